import { describe, expect, it } from "vitest";
import type { FieldSchema } from "../../src/model/field-schema.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { type KindRegistry, kindRegistry } from "../../src/model/kind.ts";
import type { Phase, Unmanaged } from "../../src/model/observed.ts";
import {
  actions,
  type Case,
  changeOf,
  planOf,
  type Rest,
  removalOf,
  type Scene,
  stepsOf,
} from "../support/plan-input.ts";
import { toyKind, toySchema } from "../support/toy-kind.ts";

const resized: Case = { wants: { size: 2 }, has: { size: 1 } };
const guarded: Case = { ...resized, lifecycle: { protect: true } };

/** A toy that lives in another one. */
function lodger(home: string, rest: Case = {}): Case {
  return { wants: { home }, has: { home }, refs: [home], ...rest };
}

/** A colour that is made of an output of the house. */
function madeOf(output: string): JsonObject {
  return { colour: { $template: [{ $ref: `toys.house.${output}` }] } };
}

function toysWith(home: FieldSchema): KindRegistry {
  const properties = { ...toySchema.properties, home: { ...toySchema.properties["home"], ...home } };
  return kindRegistry([toyKind(undefined, { schema: { ...toySchema, properties } })]);
}

describe("a referent that gets a new object", () => {
  it("is followed in place where the reference can be changed", () => {
    const plan = planOf({ house: resized, cat: lodger("house") });
    expect(actions(plan)).toEqual({ cat: "update", house: "replace" });
    expect(changeOf(plan, "cat").fields).toMatchObject([{ path: "home", after: "house" }]);
    expect(stepsOf(plan)).toEqual(["house delete", "house create < house#delete", "cat update < house"]);
  });

  it("takes along those whose reference is fixed, and theirs in turn", () => {
    const plan = planOf(
      { house: resized, cat: lodger("house"), flea: lodger("cat") },
      { kinds: toysWith({ "x-create-only": true }) },
    );
    expect(actions(plan)).toEqual({ cat: "replace", flea: "replace", house: "replace" });
    expect(changeOf(plan, "cat").reason).toBe("recreated because toys.house is replaced");
    expect(stepsOf(plan)).toEqual([
      "house delete < cat#delete",
      "house create < house#delete",
      "cat delete < flea#delete",
      "cat create < cat#delete, house",
      "flea delete",
      "flea create < cat, flea#delete",
    ]);
  });

  it("stays, where one that would have to go with it may not", () => {
    const cat = lodger("house", { lifecycle: { protect: true } });
    const plan = planOf({ house: resized, cat }, { kinds: toysWith({ "x-create-only": true }) });
    expect(actions(plan)).toEqual({ house: "replace !depends-on-blocked", cat: "replace !protect" });
  });

  it("is followed by a value that is made of its outputs", () => {
    const colour = { $template: ["at ", { $ref: "toys.house.endpoint" }] };
    const cat: Case = { wants: { colour }, has: { colour: "at id-house:6379" }, refs: ["house"] };
    expect(actions(planOf({ house: resized, cat }))).toEqual({ house: "replace", cat: "update" });
    const house: Case = { wants: { size: 1 }, has: { size: 1 } };
    expect(actions(planOf({ house, cat }))).toEqual({ house: "keep", cat: "keep" });
  });

  it("gone outside counts as well", () => {
    expect(actions(planOf({ house: { wants: {}, recorded: {} }, cat: lodger("house") }))).toEqual({
      house: "create",
      cat: "update",
    });
  });

  it("moves nobody where the replacement is refused", () => {
    const scene = { house: guarded, cat: lodger("house") };
    expect(actions(planOf(scene))).toEqual({ house: "replace !protect", cat: "keep" });
  });

  it.each<[string, Case, string]>([
    ["it is stopped", { wants: {}, has: {}, phase: "stopped" }, "replace !output-missing"],
    [
      "it is stopped, and changed otherwise",
      { wants: { colour: "red" }, has: { colour: "blue" }, phase: "stopped" },
      "replace !output-missing",
    ],
    [
      "it is stopped, and started by this plan",
      { wants: { power: "running" }, has: { power: "stopped" }, phase: "stopped" },
      "replace",
    ],
    ["it changes with this plan", { wants: { memory: "2GB" }, has: { memory: "1GB" } }, "replace"],
    ["an operation on it has not ended", { wants: {}, has: {}, phase: "pending" }, "replace"],
  ])("holds back a new object that needs its output: %s", (_, house, expected) => {
    const colour = { $template: [{ $ref: "toys.house.endpoint" }] };
    const cat: Case = { wants: { colour, size: 2 }, has: { size: 1 }, refs: ["house"] };
    const unknownAfter = { power: ["status"], memory: ["endpoint"] };
    const kinds = kindRegistry([toyKind(undefined, { unknownAfter })]);
    expect(actions(planOf({ house, cat }, { kinds }))).toMatchObject({ cat: expected });
    expect(actions(planOf({ house, cat: { wants: { colour }, refs: ["house"] } }, { kinds }))).toMatchObject({
      cat: expected.replace("replace", "create"),
    });
  });

  it.each<[string, Case, string]>([
    [
      "a new object that needs its address",
      { wants: { ...madeOf("endpoint"), size: 2 }, has: { size: 1 } },
      "replace !output-missing",
    ],
    [
      "an update that needs its address",
      { wants: madeOf("endpoint"), has: { colour: "id-house:6379" } },
      "update !output-missing",
    ],
    ["one that needs its id", { wants: { ...madeOf("id"), size: 2 }, has: { size: 1 } }, "replace"],
    ["one that needs nothing of it", { wants: { size: 2 }, has: { size: 1 } }, "replace"],
  ])("that is declared stopped, beside %s", (_, cat, expected) => {
    const kinds = kindRegistry([toyKind(undefined, { ofRunning: ["endpoint"] })]);
    const house: Case = { wants: { size: 2, power: "stopped" }, has: { size: 1, power: "stopped" } };
    const plan = planOf({ house, cat: { ...cat, refs: ["house"] } }, { kinds });
    expect(actions(plan)).toMatchObject({ cat: expected });
  });

  it("changes nothing for a value whose output is not shown just now", () => {
    const colour = { $template: [{ $ref: "toys.house.endpoint" }] };
    const house: Case = { wants: { power: "stopped" }, has: {}, phase: "stopped" };
    const cat: Case = { wants: { colour }, has: { colour: "id-house:6379" }, refs: ["house"] };
    expect(actions(planOf({ house, cat }))).toEqual({ house: "keep", cat: "keep" });
  });
});

describe("a referent that is changed in place", () => {
  const address: FieldSchema = { type: "string", "x-create-only": true };
  const kinds = (colour: Partial<FieldSchema> = {}): KindRegistry => {
    const properties = { ...toySchema.properties, colour: { ...toySchema.properties["colour"], ...colour } };
    const unknownAfter = { power: ["endpoint"] };
    return kindRegistry([toyKind(undefined, { schema: { ...toySchema, properties }, unknownAfter })]);
  };
  const colour = { $template: ["at ", { $ref: "toys.house.endpoint" }] };
  const cat: Case = { wants: { colour }, has: { colour: "at id-house:6379" }, refs: ["house"] };
  const stopping: Case = { wants: { power: "stopped" }, has: { power: "running" } };

  it("is followed by a value that is made of what the change leaves unknown", () => {
    const plan = planOf({ house: stopping, cat }, { kinds: kinds() });
    expect(actions(plan)).toEqual({ house: "update", cat: "update" });
    expect(changeOf(plan, "cat").fields).toMatchObject([{ path: "colour", after: colour }]);
    expect(stepsOf(plan).at(-1)).toMatch(/^cat update < house/);
  });

  it("takes along an object whose value is fixed, and shows it before anything is applied", () => {
    const plan = planOf({ house: stopping, cat }, { kinds: kinds(address) });
    expect(actions(plan)).toEqual({ house: "update", cat: "replace" });
    expect(changeOf(plan, "cat").reason).toBe("recreated because toys.house.endpoint changes");
  });

  it("moves nothing else, and nothing if it is blocked", () => {
    const other: Case = { wants: { colour: "red" }, has: { colour: "blue" } };
    expect(actions(planOf({ house: other, cat }, { kinds: kinds() }))).toEqual({
      house: "update",
      cat: "keep",
    });
    const blocked = { guards: { maxChangePercent: 100, maxDisruption: "none" } } as const;
    expect(actions(planOf({ house: stopping, cat }, { kinds: kinds(), ...blocked }))).toMatchObject({
      cat: "keep",
    });
  });
});

describe("what another object is built on", () => {
  const kinds = toysWith({ "x-create-only": true });
  const leaving: Case = { has: {} };
  const cat = lodger("house");
  const left: Case = { has: { home: "house" } };
  const release: Rest = { removed: [removalOf("cat", false)] };
  const bird: Case = { wants: {}, has: {} };
  const stranger = (phase: Phase = { is: "ready", detail: "READY" }): readonly Unmanaged[] => {
    const live = {
      id: "id-x",
      phase,
      spec: { home: { value: "house", source: "described" } },
      outputs: {},
    } as const;
    return [{ kind: "toys", id: "id-x", place: {}, live }];
  };

  it.each<[string, Scene, Rest, string]>([
    ["it is let go of", { house: leaving, cat: left }, release, "delete !in-use"],
    [
      "it is retained",
      { house: leaving, cat: { ...left, remembered: { onDelete: "retain" } } },
      {},
      "delete !in-use",
    ],
    [
      "its reference is no longer declared",
      { house: leaving, cat: { wants: {}, has: { home: "house" } } },
      {},
      "delete !in-use",
    ],
    [
      "nothing but the state knows the reference",
      { house: leaving, cat: { wants: {}, has: {}, recorded: { home: "house" } } },
      {},
      "delete !in-use",
    ],
    ["it is unmanaged", { house: leaving }, { unmanaged: stranger() }, "delete !in-use"],
    ["that is looked for", { house: leaving }, { tenants: stranger() }, "delete !in-use"],
    [
      "its data moves away, and the old one is kept for a while",
      {
        house: leaving,
        tree: bird,
        cat: {
          wants: { home: "tree" },
          has: { home: "house" },
          refs: ["tree"],
          lifecycle: { onReplace: "migrate" },
        },
      },
      {},
      "delete !in-use",
    ],
    ["it is deleted too", { house: leaving, cat: left }, {}, "delete"],
    ["it is gone", { house: leaving, cat: { recorded: { home: "house" } } }, release, "delete"],
    [
      "it is being deleted",
      { house: leaving },
      { unmanaged: stranger({ is: "pending", detail: "DELETING", isLeaving: true }) },
      "delete",
    ],
    [
      "it moves to a new one",
      { house: leaving, tree: bird, cat: { ...lodger("tree"), has: { home: "house" } } },
      {},
      "delete",
    ],
    ["it is replaced with it", { house: resized, cat }, {}, "replace"],
  ])("is deleted only if nothing is: %s", (_, scene, rest, expected) => {
    const plan = planOf({ ...scene, bird }, { kinds, ...rest });
    expect(actions(plan)["house"]).toBe(expected);
  });

  it("stays, and so does everything else in it, while one that is let go of is in it", () => {
    const plan = planOf({ house: resized, cat: left, dog: lodger("house") }, { kinds, ...release });
    expect(actions(plan)).toEqual({
      house: "replace !in-use",
      cat: "forget",
      dog: "replace !depends-on-blocked",
    });
    expect(changeOf(plan, "house").blocked).toEqual([
      {
        code: "in-use",
        message: "toys.cat stands on it and stays: the service refuses to delete it",
        lift: "leave it as it is; or delete toys.cat first",
      },
    ]);
  });

  it.each<[string, Rest]>([
    ["of what is no longer declared", {}],
    ["of a destroy", { destroying: true }],
  ])("has a way out %s, and that one works", (_, rest) => {
    const kept = { cat: { ...left, remembered: { onDelete: "retain" as const } }, bird };
    const plan = planOf({ house: leaving, ...kept }, { kinds, ...rest, unmanaged: stranger() });
    const way = "declare it, or let go of it too (lifecycle.onDelete: retain, or removed: destroy: false)";
    const lift = `${way}; or delete toys.cat and unmanaged id-x first`;
    expect(changeOf(plan, "house").blocked).toMatchObject([{ code: "in-use", lift }]);
    const house: Case = { ...leaving, remembered: { onDelete: "retain" } };
    const removed = [removalOf("house", false)];
    const released = [
      planOf({ house, ...kept }, { kinds, ...rest }),
      planOf({ house: leaving, ...kept }, { kinds, removed }),
    ];
    expect(released.map((each) => actions(each)["house"])).toEqual(["forget", "forget"]);
  });

  it("goes with what is inside of it, or can be taken off it", () => {
    const inside = toysWith({ "x-create-only": true, "x-place": true });
    for (const each of [inside, toysWith({})])
      expect(actions(planOf({ house: leaving, cat: left, bird }, { kinds: each, ...release }))["house"]).toBe(
        "delete",
      );
  });
});

interface Row {
  readonly reason: string;
  readonly scene: Scene;
  readonly expected: { readonly [name: string]: string };
}

const rows: readonly Row[] = [
  {
    reason: "what refers to something blocked waits for it",
    scene: { house: guarded, cat: lodger("house", { wants: { home: "house", colour: "red" } }) },
    expected: { house: "replace !protect", cat: "update !depends-on-blocked" },
  },
  {
    reason: "through all the others",
    scene: {
      house: guarded,
      cat: { wants: {}, refs: ["house"] },
      flea: { wants: {}, refs: ["cat"] },
      bird: { wants: {} },
    },
    expected: {
      house: "replace !protect",
      cat: "create !depends-on-blocked",
      flea: "create !depends-on-blocked",
      bird: "create",
    },
  },
  {
    reason: "what a protected one refers to stays with it",
    scene: {
      house: { has: {} },
      cat: { has: { home: "house" }, refs: ["house"], remembered: { protect: true } },
      bird: { wants: {} },
    },
    expected: { house: "delete !depends-on-blocked", cat: "delete !protect", bird: "create" },
  },
  {
    reason: "what refers to something that may not be deleted may go",
    scene: {
      house: { has: {}, remembered: { protect: true } },
      cat: { has: {}, refs: ["house"] },
      bird: { wants: {} },
    },
    expected: { house: "delete !protect", cat: "delete", bird: "create" },
  },
  {
    reason: "what somebody still needs, since his own change is blocked, stays",
    scene: {
      house: { has: {} },
      tree: { wants: {}, has: {} },
      cat: {
        wants: { home: "tree", size: 2 },
        has: { home: "house", size: 1 },
        refs: ["tree"],
        boundRefs: ["house"],
        lifecycle: { protect: true },
      },
    },
    expected: { house: "delete !depends-on-blocked", tree: "keep", cat: "replace !protect" },
  },
  {
    reason: "what an undeclared, protected one lives in is not replaced under it",
    scene: {
      house: resized,
      cat: { has: { home: "house" }, refs: ["house"], remembered: { protect: true } },
    },
    expected: { house: "replace !depends-on-blocked", cat: "delete !protect" },
  },
  {
    reason: "nothing is blocked by what only moves or stays",
    scene: { house: guarded, cat: lodger("house") },
    expected: { house: "replace !protect", cat: "keep" },
  },
];

describe("what depends on something blocked", () => {
  it.each(rows)("$reason", ({ scene, expected }) => {
    expect(actions(planOf(scene))).toEqual(expected);
  });

  it("says on whom it waits", () => {
    const plan = planOf({ house: guarded, cat: { wants: {}, refs: ["house"] } });
    expect(changeOf(plan, "cat").blocked).toEqual([
      { code: "depends-on-blocked", message: "toys.house is blocked", lift: "lift the guard of toys.house" },
    ]);
  });
});
