import { describe, expect, it } from "vitest";
import { kindRegistry } from "../../src/model/kind.ts";
import { type Case, planOf, type Scene, stepsOf } from "../support/plan-input.ts";
import { toyKind, toySchema } from "../support/toy-kind.ts";

const gone: Case = { has: {} };
const resized: Case = { wants: { size: 2 }, has: { size: 1 } };

interface Row {
  readonly reason: string;
  readonly scene: Scene;
  readonly steps: readonly string[];
}

const rows: readonly Row[] = [
  {
    reason: "what is referred to is created first",
    scene: { cat: { wants: { home: "house" }, refs: ["house"] }, house: { wants: {} } },
    steps: ["house create", "cat create < house"],
  },
  {
    reason: "what does not change is not waited for",
    scene: { cat: { wants: {}, refs: ["house"] }, house: { wants: {}, has: {} } },
    steps: ["cat create"],
  },
  {
    reason: "what refers is deleted first",
    scene: { cat: { ...gone, refs: ["house"] }, house: gone, bird: { wants: {}, has: {} } },
    steps: ["house delete < cat", "cat delete"],
  },
  {
    reason: "what it shows to refer to counts, where the state forgot it",
    scene: { cat: { has: { home: "house" } }, house: gone, bird: { wants: {}, has: {} } },
    steps: ["cat delete", "house delete < cat"],
  },
  {
    reason: "what lets go lets go first, and takes hold of the new one before that",
    scene: {
      cat: { wants: { home: "tree" }, has: { home: "house" }, refs: ["tree"], boundRefs: ["house"] },
      house: gone,
      tree: { wants: {} },
    },
    steps: ["tree create", "cat bind", "cat update < cat#bind, tree", "house delete < cat"],
  },
  {
    reason: "a deletion that could only wait in a circle does not wait",
    scene: {
      cat: { wants: { home: "tree" }, has: { home: "house" }, refs: ["tree"], boundRefs: ["house"] },
      house: resized,
      tree: { wants: { home: "house" }, refs: ["house"] },
    },
    steps: [
      "house delete",
      "house create < house#delete",
      "tree create < house",
      "cat bind",
      "cat update < cat#bind, tree",
    ],
  },
  {
    reason: "two that refer to each other, by an old state, are deleted all the same",
    scene: {
      cat: { ...gone, refs: ["house"] },
      house: { ...gone, refs: ["cat"] },
      bird: { wants: {}, has: {} },
    },
    steps: ["house delete < cat", "cat delete"],
  },
  {
    reason: "what is let go of is not waited for",
    scene: { cat: { recorded: {}, boundRefs: ["house"] }, house: gone, bird: { wants: {}, has: {} } },
    steps: ["house delete", "cat forget"],
  },
  {
    reason: "what makes room for a new object waits for all that the new one needs",
    scene: {
      cat: { ...resized, wants: { size: 2, home: "tree" }, refs: ["tree"], boundRefs: ["house"] },
      tree: { wants: {} },
    },
    steps: ["tree create", "cat bind", "cat delete < cat#bind, tree", "cat create < cat#delete, tree"],
  },
  {
    reason: "what refers waits for the verbs of what it refers to",
    scene: {
      cat: { wants: { home: "house" }, refs: ["house"] },
      house: { wants: { power: "running" }, has: {}, phase: "stopped" },
    },
    steps: ["house start", "cat create < house#start"],
  },
];

describe("the order of steps", () => {
  it.each(rows)("$reason", ({ scene, steps }) => {
    expect(stepsOf(planOf(scene, { guards: {} }))).toEqual(steps);
  });

  const named = kindRegistry([
    toyKind(undefined, { namedBy: "colour", place: ({ colour = "" }) => ({ colour }) }),
  ]);

  it.each([
    {
      reason: "a new address waits until the object of its name is deleted under the old one",
      scene: { cat: { has: { colour: "red" } }, puss: { wants: { colour: "red" } } },
      steps: ["cat delete", "puss create < cat"],
    },
    {
      reason: "two that change their names for each other's wait for both deletions",
      scene: {
        cat: { wants: { colour: "red" }, has: { colour: "blue" } },
        puss: { wants: { colour: "blue" }, has: { colour: "red" } },
      },
      steps: [
        "cat delete",
        "cat create < cat#delete, puss#delete",
        "puss delete",
        "puss create < cat#delete, puss#delete",
      ],
    },
    {
      reason: "another name waits for nothing",
      scene: { cat: { has: { colour: "red" } }, puss: { wants: { colour: "blue" } } },
      steps: ["cat delete", "puss create"],
    },
    {
      reason: "what the deletion waits for does not wait for it",
      scene: {
        cat: { has: { colour: "red" } },
        puss: { wants: { colour: "red" } },
        bird: { wants: { home: "puss" }, has: { home: "cat" }, refs: ["puss"], boundRefs: ["cat"] },
      },
      steps: ["cat delete < bird", "puss create", "bird bind", "bird update < bird#bind, puss"],
    },
  ])("of what is known by its name: $reason", ({ scene, steps }) => {
    const options = { replace: ["toys.cat", "toys.puss"], allowDestroy: ["toys.cat", "toys.puss"] };
    expect(stepsOf(planOf(scene, { kinds: named, options })).toSorted()).toEqual(steps.toSorted());
  });

  const home = { ...toySchema.properties["home"], "x-place": true };
  const inside = kindRegistry([
    toyKind(undefined, { schema: { ...toySchema, properties: { ...toySchema.properties, home } } }),
  ]);
  const stopping: Case = { wants: { power: "stopped" }, has: {} };
  const starting: Case = { wants: { power: "running" }, has: {}, phase: "stopped" };
  const lodger: Case = { wants: { home: "house" }, refs: ["house"] };
  const repainted: Case = {
    wants: { home: "house", colour: "red" },
    has: { home: "house", colour: "blue" },
    refs: ["house"],
  };
  const leaving: Case = { has: { home: "house" }, refs: ["house"] };

  it.each<Row>([
    {
      reason: "a new one that is declared stopped is stopped once what is inside is made",
      scene: { house: { wants: { power: "stopped" } }, cat: lodger },
      steps: ["house create", "house stop < cat, house", "cat create < house"],
    },
    {
      reason: "one that is stopped is stopped once what is inside is made, changed and deleted",
      scene: { house: stopping, cat: lodger, dog: repainted, flea: leaving },
      steps: ["flea delete", "house stop < cat, dog, flea", "cat create", "dog update"],
    },
    {
      reason: "one that is started is started before what is inside is made, changed and deleted",
      scene: { house: starting, cat: lodger, dog: repainted, flea: leaving },
      steps: [
        "flea delete < house#start",
        "house start",
        "cat create < house#start",
        "dog update < house#start",
      ],
    },
    {
      reason: "one that is up for a change alone is up for what is inside too",
      scene: {
        house: { wants: { power: "stopped", colour: "red" }, has: { colour: "blue" }, phase: "stopped" },
        cat: lodger,
      },
      steps: [
        "house start",
        "house update < house#start",
        "house stop < cat, house",
        "cat create < house, house#start",
      ],
    },
    {
      reason: "what comes from elsewhere is deleted there, and made before the stop",
      scene: {
        house: stopping,
        barn: starting,
        cat: { ...lodger, wants: { home: "house", size: 2 }, has: { home: "barn", size: 1 } },
      },
      steps: ["barn start", "house stop < cat", "cat delete < barn#start", "cat create < cat#delete"],
    },
    {
      reason: "what is blocked does not hold the stop up",
      scene: { house: stopping, dog: repainted, flea: { ...leaving, remembered: { protect: true } } },
      steps: ["flea delete", "house stop < dog", "dog update"],
    },
    {
      reason: "what is inside, and needs what waits for the stop, waits too",
      scene: {
        house: { wants: { power: "stopped" } },
        tree: { wants: {}, refs: ["house"] },
        cat: { wants: { home: "house" }, refs: ["house", "tree"] },
      },
      steps: [
        "house create",
        "house stop < house",
        "tree create < house, house#stop",
        "cat create < house, tree",
      ],
    },
  ])("of what is inside: $reason", ({ scene, steps }) => {
    expect(stepsOf(planOf(scene, { kinds: inside })).toSorted()).toEqual(steps.toSorted());
  });

  it("gives every step its own key", () => {
    const scene: Scene = { a: { wants: { power: "stopped" } }, b: resized, "c#delete": { wants: {} } };
    const keys = planOf(scene).steps.map((step) => step.key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
