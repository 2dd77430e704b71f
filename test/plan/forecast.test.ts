import { describe, expect, it } from "vitest";
import { expectedTime } from "../../src/model/time-limit.ts";
import { type Case, planOf, type Scene } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";

// What the profile of toys expects, in seconds: create 30, update 15, delete 10, start 10, stop 5, restart 15.
const resized: Case = { wants: { size: 2 }, has: { size: 1 } };
const larger: Case = { wants: { memory: "2GB" }, has: { memory: "1GB" } };

interface Row {
  readonly reason: string;
  readonly scene: Scene;
  readonly forecast: { readonly restarts: number; readonly replacements: number; readonly seconds: number };
  /** The chain that takes longest: `start operation address seconds`. */
  readonly path: readonly string[];
}

const rows: readonly Row[] = [
  {
    reason: "nothing to do",
    scene: { a: { wants: {}, has: {} } },
    forecast: { restarts: 0, replacements: 0, seconds: 0 },
    path: [],
  },
  {
    reason: "side by side takes as long as the longest",
    scene: { a: { wants: {} }, b: { wants: {} }, c: larger },
    forecast: { restarts: 1, replacements: 0, seconds: 30 },
    path: ["0 create toys.a 30"],
  },
  {
    reason: "one after the other adds up",
    scene: { a: { wants: {} }, b: { wants: {}, refs: ["a"] } },
    forecast: { restarts: 0, replacements: 0, seconds: 60 },
    path: ["0 create toys.a 30", "30 create toys.b 30"],
  },
  {
    reason: "a replacement is a deletion and a creation",
    scene: { a: resized },
    forecast: { restarts: 0, replacements: 1, seconds: 40 },
    path: ["0 delete toys.a 10", "10 create toys.a 30"],
  },
  {
    reason: "up for a change, and down again",
    scene: { a: { wants: { power: "stopped", colour: "red" }, has: { colour: "blue" }, phase: "stopped" } },
    forecast: { restarts: 0, replacements: 0, seconds: 30 },
    path: ["0 start toys.a 10", "10 update toys.a 15", "25 stop toys.a 5"],
  },
  {
    reason: "a stop counts as the restart that it is grouped with, also if its object is bound first",
    scene: {
      a: { wants: { power: "stopped" }, has: { power: "running" } },
      b: { wants: { memory: "2GB" }, has: { memory: "1GB" }, recorded: false, importId: "toy-1" },
    },
    forecast: { restarts: 2, replacements: 0, seconds: 15 },
    path: ["0 update toys.b 15"],
  },
  {
    reason: "what is blocked does not happen",
    scene: { a: { ...resized, lifecycle: { protect: true } }, b: larger },
    forecast: { restarts: 1, replacements: 0, seconds: 15 },
    path: ["0 update toys.b 15"],
  },
  {
    reason: "what only the state learns takes no time",
    scene: { a: { wants: {}, has: {}, recorded: false, importId: "toy-1" }, b: { recorded: {} } },
    forecast: { restarts: 0, replacements: 0, seconds: 0 },
    path: [],
  },
];

describe("the forecast", () => {
  it.each(rows)("$reason", ({ scene, forecast, path }) => {
    const { path: chain = [], ...impact } = planOf(scene).forecast;
    expect(impact).toEqual(forecast);
    expect(
      chain.map(({ start, operation, verb, address, seconds }) =>
        [start, verb ?? operation, address, seconds].join(" "),
      ),
    ).toEqual(path);
  });
});

it("takes what earlier runs have measured for what the profile says", () => {
  const durations = { "toys.create": 1200, "others.create": 90_000 };
  expect(expectedTime({ kind: "toys", operation: "create" }, toyProfile, durations)).toBe(1200);
  expect(expectedTime({ kind: "toys", operation: "update" }, toyProfile, durations)).toBe(15_000);
  expect(expectedTime({ kind: "toys", operation: "bind" }, toyProfile, { "toys.bind": 5 })).toBe(0);
});

describe("the census", () => {
  it("counts what was declared, looked at and left out, and where every value comes from", () => {
    const plan = planOf(
      {
        a: { wants: {}, has: { colour: "red" }, recorded: { colour: "red", memory: "1GB" } },
        b: { wants: {}, has: { size: 1 }, source: "probed" },
        c: { wants: {} },
      },
      { unmanaged: [{ kind: "toys", id: "toy-9", place: {} }] },
    );
    expect(plan.census).toEqual({
      declared: 3,
      checked: 2,
      skipped: 0,
      unmanaged: 1,
      fields: { probed: 1, described: 3, echoed: 0, recorded: 1 },
    });
  });
});
