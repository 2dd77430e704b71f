import { describe, expect, it } from "vitest";
import { type Case, planOf, type Scene } from "../support/plan-input.ts";

// What the profile of toys expects, in seconds: create 30, update 15, delete 10, start 10, stop 5, restart 15.
const resized: Case = { wants: { size: 2 }, has: { size: 1 } };
const larger: Case = { wants: { memory: "2GB" }, has: { memory: "1GB" } };

interface Row {
  readonly reason: string;
  readonly scene: Scene;
  readonly forecast: { readonly restarts: number; readonly replacements: number; readonly seconds: number };
}

const rows: readonly Row[] = [
  {
    reason: "nothing to do",
    scene: { a: { wants: {}, has: {} } },
    forecast: { restarts: 0, replacements: 0, seconds: 0 },
  },
  {
    reason: "side by side takes as long as the longest",
    scene: { a: { wants: {} }, b: { wants: {} }, c: larger },
    forecast: { restarts: 1, replacements: 0, seconds: 30 },
  },
  {
    reason: "one after the other adds up",
    scene: { a: { wants: {} }, b: { wants: {}, refs: ["a"] } },
    forecast: { restarts: 0, replacements: 0, seconds: 60 },
  },
  {
    reason: "a replacement is a deletion and a creation",
    scene: { a: resized },
    forecast: { restarts: 0, replacements: 1, seconds: 40 },
  },
  {
    reason: "up for a change, and down again",
    scene: { a: { wants: { power: "stopped", colour: "red" }, has: { colour: "blue" }, phase: "stopped" } },
    forecast: { restarts: 0, replacements: 0, seconds: 30 },
  },
  {
    reason: "what is blocked does not happen",
    scene: { a: { ...resized, lifecycle: { protect: true } }, b: larger },
    forecast: { restarts: 1, replacements: 0, seconds: 15 },
  },
  {
    reason: "what only the state learns takes no time",
    scene: { a: { wants: {}, has: {}, recorded: false, importId: "toy-1" }, b: { recorded: {} } },
    forecast: { restarts: 0, replacements: 0, seconds: 0 },
  },
];

describe("the forecast", () => {
  it.each(rows)("$reason", ({ scene, forecast }) => {
    expect(planOf(scene).forecast).toEqual(forecast);
  });
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
