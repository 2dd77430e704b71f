import { describe, expect, it } from "vitest";
import { kindRegistry } from "../../src/model/kind.ts";
import { type Case, planOf, type Scene, stepsOf } from "../support/plan-input.ts";
import { toyKind } from "../support/toy-kind.ts";

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

  it("gives every step its own key", () => {
    const scene: Scene = { a: { wants: { power: "stopped" } }, b: resized, "c#delete": { wants: {} } };
    const keys = planOf(scene).steps.map((step) => step.key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
