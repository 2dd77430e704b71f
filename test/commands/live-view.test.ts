import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openLiveView } from "../../src/commands/terminal/live-view.ts";
import type { LiveArea, Terminal } from "../../src/commands/terminal/terminal.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const printed: string[] = [];
const terminal: Terminal = {
  out: () => undefined,
  err: (text) => void printed.push(text),
  ...{ interactive: false, colour: false, width: 80, redactWith: () => undefined },
  confirm: async () => false,
};

it("says every ten seconds what is read, and then how many steps are done, if nothing can be drawn", async () => {
  printed.length = 0;
  const view = await openLiveView(terminal, true);
  view?.reading(0, 0);
  vi.advanceTimersByTime(9_999);
  expect(printed).toEqual([]);
  vi.advanceTimersByTime(1);
  view?.reading(12, 61);
  vi.advanceTimersByTime(10_000);
  const lines = ["reading the service · 10s elapsed\n", "12 of 61 read · 20s elapsed\n"];
  expect(printed).toEqual(lines);
  view?.begin([], () => 0);
  view?.reading(61, 61);
  vi.advanceTimersByTime(10_000);
  expect(printed).toEqual([...lines, "0 of 0 done · 10s elapsed\n"]);
  view?.clear();
  vi.advanceTimersByTime(60_000);
  expect(printed).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
});

it("says nothing with --json", async () => {
  expect(await openLiveView(terminal, false)).toBeUndefined();
});

it("counts the seconds on a terminal from the first one", async () => {
  const drawn: string[] = [];
  const area: LiveArea = {
    size: () => ({ width: 80, height: 24 }),
    draw: (lines) => void drawn.push(lines.join("\n")),
    print: () => undefined,
    clear: () => undefined,
  };
  const view = await openLiveView({ ...terminal, live: async () => area }, true);
  view?.reading(0, 0);
  vi.advanceTimersByTime(3000);
  expect(drawn[0]).toBe("reading the service · 0s elapsed");
  expect(drawn.at(-1)).toBe("reading the service · 3s elapsed");
  view?.clear();
});
