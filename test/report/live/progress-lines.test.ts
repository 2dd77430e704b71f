import { describe, expect, it } from "vitest";
import type { ApplyEvent } from "../../../src/model/outcome.ts";
import {
  beginRun,
  followRun,
  heartbeatText,
  progressLines,
  type RunProgress,
  timeLeft,
} from "../../../src/report/progress-lines.ts";
import { makePalette, textWidth } from "../../../src/report/typeset.ts";
import { growth } from "../../support/work.ts";
import { ended } from "../apply-parts.ts";
import { step } from "../plan-parts.ts";

const palette = makePalette(false);

function begun(addresses: readonly string[], usual = 30_000): RunProgress {
  const steps = addresses.map((address) => step("create", address));
  return followedBy(
    beginRun(steps, () => usual, 0),
    ...addresses.map(start),
  );
}

function followedBy(progress: RunProgress, ...events: readonly ApplyEvent[]): RunProgress {
  for (const event of events) followRun(progress, event, 0);
  return progress;
}

function start(address: string): ApplyEvent {
  return { type: "step-start", key: address, address, kind: "instances", operation: "create" };
}

function seen(address: string, detail: string): ApplyEvent {
  const of = { key: address, address, kind: "instances", operation: "create" } as const;
  return { type: "step-progress", ...of, elapsed: 1, detail };
}

function end(address: string, result: "done" | "failed" = "done"): ApplyEvent {
  return { type: "step-end", outcome: ended(address, { result }) };
}

/** The progress of so many steps that all run at once. */
function followed(addresses: readonly string[]): RunProgress {
  const each = [start, (address: string) => seen(address, "DEPLOYING"), end];
  const steps = addresses.map((address) => step("create", address));
  return followedBy(
    beginRun(steps, () => 30_000, 0),
    ...each.flatMap((event) => addresses.map((address) => event(address))),
  );
}

const many = Array.from({ length: 60 }, (_, at) => `instances.shard["${at}北京"]`);

describe("following a run", () => {
  it("counts what has ended, and costs ten times as much for ten times as many steps", async () => {
    const steps = (count: number): readonly string[] =>
      Array.from({ length: count }, (_, at) => `instances.x${at}`);
    expect(heartbeatText(followed(steps(3)), 5000)).toBe("3 of 3 done · 5s elapsed");
    expect(await growth(followed, steps(100), steps(1000))).toBeLessThan(13);
  });
});

describe("progressLines", () => {
  it("shows what runs, its status, how long it usually takes, and the whole", () => {
    const progress = followedBy(
      begun(["instances.a", "instances.b"]),
      seen("instances.a", "DEPLOYING\u001b[2J"),
    );
    expect(progressLines(progress, 12_000, { palette, width: 80, height: 24 })).toEqual([
      "  instances.a  creating · DEPLOYING\\u001b[2J  12s  usually 30s",
      "  instances.b  creating                       12s  usually 30s",
      "0 of 2 done · 12s elapsed · about 20 seconds left",
    ]);
  });

  it("keeps the end of an address that is cut: there two of one section differ", () => {
    const lines = progressLines(begun(["instances.orders", "instances.stock"]), 12_000, {
      palette,
      width: 40,
      height: 24,
    });
    expect(lines.slice(0, 2)).toEqual([
      expect.stringMatching(/^ {2}….*orders {2}creating/),
      expect.stringMatching(/^ {2}….*stock {2,}creating/),
    ]);
  });

  it.each([
    [80, 24],
    [160, 24],
    [20, 6],
    [80, 1],
    [40, 200],
  ])("stays within %i columns and %i rows", (width, height) => {
    const lines = progressLines(begun(many), 12_000, { palette, width, height });
    expect(lines.length).toBeLessThanOrEqual(Math.max(2, height - 4));
    expect(Math.max(...lines.map(textWidth))).toBeLessThan(width);
    if (height === 24) expect(lines.at(-2)).toBe("  and 42 more");
  });
});

describe("timeLeft", () => {
  const steps = [
    step("create", "instances.a"),
    step("create", "instances.b", { after: ["instances.a"] }),
    step("create", "instances.c"),
  ];
  const fresh = (): RunProgress => beginRun(steps, () => 30_000, 0);

  it.each<[string, RunProgress, number, number | undefined]>([
    ["nothing has begun: the longest chain", fresh(), 0, 60_000],
    ["the first has run for a third", followedBy(fresh(), start("instances.a")), 10_000, 50_000],
    ["what waits for a failure does not count", followedBy(fresh(), end("instances.a", "failed")), 0, 30_000],
    ["all that is left takes too long", begun(["instances.a"]), 31_000, undefined],
  ])("%s", (_, progress, now, left) => {
    expect(timeLeft(progress, now)).toBe(left);
  });
});

it("counts in a line for a log", () => {
  expect(heartbeatText(begun(["instances.a"]), 20_000)).toBe("0 of 1 done · 1 running · 20s elapsed");
});
