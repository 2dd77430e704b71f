// biome-ignore lint/correctness/noUnresolvedImports: a CommonJS package has a default export at run time.
import xterm from "@xterm/headless";
import { expect, it } from "vitest";
import { openLiveArea } from "../../src/commands/terminal/terminal.ts";

it("leaves each printed line once, in order, and nothing of what was drawn", async () => {
  const screen = new xterm.Terminal({ cols: 40, rows: 8, allowProposedApi: true, convertEol: true });
  let written = Promise.resolve();
  const stream = {
    columns: 40,
    rows: 8,
    write: (text: string) => {
      written = written.then(() => new Promise((resolve) => screen.write(text, resolve)));
    },
  };
  const other = { write: (text: string) => stream.write(text) };
  const area = await openLiveArea(stream);
  area.print("before\n", stream);
  for (let at = 0; at < 12; at += 1) {
    area.draw([`running ${at} 北京`, ...(at % 2 === 0 ? ["another"] : []), `${at} of 12 done`]);
    area.print(`step ${at} is done\n`, at % 3 === 0 ? other : stream);
  }
  await written;
  const shown = (): readonly string[] => {
    const { active } = screen.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, at) => active.getLine(at)?.translateToString(true) ?? "",
    );
    return lines.filter((line) => line !== "");
  };
  expect(shown().slice(-2)).toEqual(["running 11 北京", "11 of 12 done"]);
  area.clear();
  area.print("after", stream);
  await written;
  expect(shown()).toEqual([
    "before",
    ...Array.from({ length: 12 }, (_, at) => `step ${at} is done`),
    "after",
  ]);
});
