import { describe, expect, it } from "vitest";
import { type Case, changeOf, planOf } from "../support/plan-input.ts";

interface Row {
  readonly reason: string;
  readonly toy: Case;
  /** path: last applied -> shown now. */
  readonly drift: readonly string[];
}

const rows: readonly Row[] = [
  {
    reason: "as it was applied",
    toy: { wants: { colour: "red" }, has: { colour: "red" }, recorded: { colour: "red" } },
    drift: [],
  },
  {
    reason: "changed outside",
    toy: { wants: { colour: "red" }, has: { colour: "blue" }, recorded: { colour: "red" } },
    drift: ["colour: red -> blue"],
  },
  {
    reason: "changed outside in a field that the manifest leaves out, and whose default was recorded",
    toy: { wants: {}, has: { size: 3 }, recorded: { size: 1 } },
    drift: ["size: 1 -> 3"],
  },
  {
    reason: "stopped outside",
    toy: { wants: { power: "running" }, has: {}, phase: "stopped", recorded: { power: "running" } },
    drift: ["power: running -> stopped"],
  },
  {
    reason: "changed in the manifest alone",
    toy: { wants: { colour: "blue" }, has: { colour: "red" }, recorded: { colour: "red" } },
    drift: [],
  },
  {
    reason: "changed outside, and the manifest has followed",
    toy: { wants: { colour: "blue" }, has: { colour: "blue" }, recorded: { colour: "red" } },
    drift: [],
  },
  {
    reason: "shown in another spelling",
    toy: { wants: { memory: "1GB" }, has: { memory: "1024MB" }, recorded: { memory: "1GB" } },
    drift: [],
  },
  {
    reason: "not shown: nobody knows",
    toy: { wants: { colour: "red" }, has: {}, recorded: { colour: "blue" } },
    drift: [],
  },
  {
    reason: "never recorded: nobody can say",
    toy: { wants: { colour: "red" }, has: { colour: "blue" }, recorded: {} },
    drift: [],
  },
];

describe("drift", () => {
  it.each(rows)("$reason", ({ toy, drift }) => {
    const found = changeOf(planOf({ a: toy }), "a").drift;
    expect(found.map(({ path, before, after }) => `${path}: ${String(before)} -> ${String(after)}`)).toEqual(
      drift,
    );
  });
});
