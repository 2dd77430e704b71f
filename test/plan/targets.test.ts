import { describe, expect, it } from "vitest";
import { actions, type Case, planOf, type Scene } from "../support/plan-input.ts";

const changed: Case = { wants: { colour: "red" }, has: { colour: "blue" } };
const scene: Scene = {
  house: changed,
  cat: { ...changed, refs: ["house"] },
  flea: { ...changed, refs: ["cat"] },
  'bird["east"]': changed,
  'bird["west"]': changed,
  birdhouse: changed,
  gone: { has: {} },
};

interface Row {
  readonly reason: string;
  readonly targets?: readonly string[];
  readonly exclude?: readonly string[];
  readonly names: readonly string[];
}

const rows: readonly Row[] = [
  { reason: "one that needs nothing", targets: ["house"], names: ["house"] },
  { reason: "one, and what it needs", targets: ["flea"], names: ["cat", "flea", "house"] },
  { reason: "several", targets: ["house", "birdhouse"], names: ["birdhouse", "house"] },
  { reason: "all members of a forEach", targets: ["bird"], names: ['bird["east"]', 'bird["west"]'] },
  { reason: "one member", targets: ['bird["east"]'], names: ['bird["east"]'] },
  { reason: "what is no longer declared", targets: ["gone"], names: ["gone"] },
  { reason: "what nobody knows", targets: ["dog"], names: [] },
  {
    reason: "everything but one",
    exclude: ["gone"],
    names: ['bird["east"]', 'bird["west"]', "birdhouse", "cat", "flea", "house"],
  },
  {
    reason: "a target's needs, without one that is excluded",
    targets: ["flea"],
    exclude: ["house"],
    names: ["cat", "flea"],
  },
  {
    reason: "everything but the members of a forEach",
    exclude: ["bird", "gone"],
    names: ["birdhouse", "cat", "flea", "house"],
  },
];

const unbuilt: Scene = {
  house: { wants: { colour: "red" }, recorded: false },
  cat: { wants: { colour: "red" }, recorded: false, refs: ["house"] },
  flea: { ...changed, refs: ["cat"] },
  dog: { ...changed, refs: ["house"] },
  bird: changed,
};

const section = (names: readonly string[] = []): readonly string[] => names.map((name) => `toys.${name}`);

describe("--target and --exclude", () => {
  it.each(rows)("$reason", ({ targets, exclude, names }) => {
    const plan = planOf(scene, { options: { targets: section(targets), exclude: section(exclude) } });
    expect(Object.keys(actions(plan)).sort()).toEqual(names);
    expect(plan.complete).toBe(false);
  });

  it("leave out what needs something excluded that is not there yet, and what needs that", () => {
    const plan = planOf(unbuilt, { options: { exclude: ["toys.house"] } });
    expect(Object.keys(actions(plan))).toEqual(["bird"]);
    expect(plan.census).toMatchObject({ declared: 5, checked: 1, skipped: 4 });
  });

  it("say how much was not looked at", () => {
    const plan = planOf(scene, { options: { targets: ["toys.house"] } });
    expect(plan.census).toMatchObject({ declared: 6, checked: 1, skipped: 5 });
  });

  it("are not taken for an empty manifest", () => {
    const plan = planOf({ gone: { has: {} }, other: { has: {} } }, { options: { targets: ["toys.gone"] } });
    expect(actions(plan)).toEqual({ gone: "delete" });
  });

  it("leave a plan complete where there is none", () => {
    const plan = planOf(scene);
    expect({ complete: plan.complete, skipped: plan.census.skipped }).toEqual({ complete: true, skipped: 0 });
  });
});
