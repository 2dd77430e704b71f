import { describe, expect, it } from "vitest";
import { ServiceError } from "../../src/model/errors.ts";
import { actions, type Case, changeOf, planOf, type Rest, type Scene } from "../support/plan-input.ts";
import { toyWorld } from "../support/toy-world.ts";

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

  const lodger: Case = { wants: { home: "house" }, has: { home: "house" }, refs: ["house"] };
  const leaving: Case = { has: {}, refs: ["house"] };
  const replaced: Case = { wants: { size: 2 }, has: { size: 1 } };
  const kept: readonly {
    readonly reason: string;
    readonly scene: Scene;
    readonly options: Rest["options"];
    readonly expected: { readonly [name: string]: string };
  }[] = [
    {
      reason: "what an excluded object lives on is not deleted under it",
      scene: { house: { has: {} }, cat: leaving, bird: { wants: {} } },
      options: { exclude: ["toys.cat"] },
      expected: { house: "delete !needed-by-left-out", bird: "create" },
    },
    {
      reason: "what that lives on in turn is not deleted either",
      scene: { house: { has: {} }, cat: leaving, flea: { has: {}, refs: ["cat"] }, bird: { wants: {} } },
      options: { exclude: ["toys.flea"] },
      expected: { house: "delete !depends-on-blocked", cat: "delete !needed-by-left-out", bird: "create" },
    },
    {
      reason: "what an excluded object lives on is not replaced under it",
      scene: { house: replaced, cat: lodger },
      options: { exclude: ["toys.cat"] },
      expected: { house: "replace !needed-by-left-out" },
    },
    {
      reason: "what an object lives on that is no target is not deleted",
      scene: { house: { has: {} }, cat: leaving, bird: { wants: {} } },
      options: { targets: ["toys.house"] },
      expected: { house: "delete !needed-by-left-out" },
    },
    {
      reason: "an excluded object that could not be read keeps what it lives on",
      scene: { house: { has: {} }, cat: { recorded: {}, refs: ["house"] }, bird: { wants: {} } },
      options: { exclude: ["toys.cat"] },
      expected: { house: "delete !needed-by-left-out", bird: "create" },
    },
    {
      reason: "a reference that the service shows counts like one that is remembered",
      scene: { house: { has: {} }, cat: { has: { home: "house" } }, bird: { wants: {} } },
      options: { exclude: ["toys.cat"] },
      expected: { house: "delete !needed-by-left-out", bird: "create" },
    },
    {
      reason: "changes in place go on under it",
      scene: { house: changed, cat: lodger },
      options: { exclude: ["toys.cat"] },
      expected: { house: "update" },
    },
    {
      reason: "what lives on it and goes with it holds nothing",
      scene: { house: { has: {} }, cat: leaving, bird: { wants: {} } },
      options: { targets: ["toys.house", "toys.cat"] },
      expected: { house: "delete", cat: "delete" },
    },
  ];

  it.each(kept)("$reason", ({ scene: held, options = {}, expected }) => {
    expect(actions(planOf(held, { options }))).toEqual(expected);
  });

  it("name what stands on a held deletion, and the way out", () => {
    const plan = planOf(
      { house: { has: {} }, cat: leaving, bird: changed },
      { options: { exclude: ["toys.cat"] } },
    );
    expect(changeOf(plan, "house").blocked).toEqual([
      {
        code: "needed-by-left-out",
        message: "toys.cat stands on it, and this run leaves out that one",
        lift: "leave out --exclude for toys.cat",
      },
    ]);
    const many = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, leaving]));
    const targeted = planOf({ house: { has: {} }, ...many }, { options: { targets: ["toys.house"] } });
    expect(changeOf(targeted, "house").blocked).toEqual([
      {
        code: "needed-by-left-out",
        message: "toys.a, toys.b, toys.c and 2 more stand on it, and this run leaves out those",
        lift: "add --target for toys.a, toys.b, toys.c and 2 more",
      },
    ]);
  });

  it("leave a plan complete where there is none", () => {
    const plan = planOf(scene);
    expect({ complete: plan.complete, skipped: plan.census.skipped }).toEqual({ complete: true, skipped: 0 });
  });
});

describe("an object that cannot be read", () => {
  const toys = {
    house: { size: 1 },
    cat: { spec: { home: "house" }, refs: ["toys.house"] },
    bird: { size: 1 },
  };

  it.each([
    ["stops a plan of everything", [], "toys.house (toy-2) cannot be read"],
    [
      "stops a plan of what refers to it: it would be made again",
      ["toys.cat"],
      "toys.house (toy-2) cannot be read",
    ],
    ["is no matter of another one", ["toys.bird"], ""],
  ])("%s", async (_, targets, problem) => {
    const world = toyWorld();
    await world.run(toys);
    const get: typeof world.service.get = (ref, signal) => {
      if (ref.id === "toy-2") throw new ServiceError("forbidden", "get", "get: 403 forbidden");
      return world.service.get(ref, signal);
    };
    const planned = world.plan(toys, { driver: { ...world.service, get }, options: { targets } });
    if (problem === "") expect(actions(await planned)).toEqual({ bird: "keep" });
    else await expect(planned).rejects.toThrow(problem);
  });
});

it.each([[[]], [["toys.dog"]]])(
  "an object that another declared address has is not taken from it by a plan of %j",
  async (targets) => {
    const world = toyWorld();
    await world.run({ cat: { size: 1 } });
    const toys = { cat: { size: 1 }, dog: { spec: { size: 1 }, importId: "toy-1" } };
    const plan = await world.plan(toys, { options: { targets } });
    expect(changeOf(plan, "dog").blocked).toMatchObject([{ code: "bound-elsewhere" }]);
  },
);
