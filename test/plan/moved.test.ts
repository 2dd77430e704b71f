import { describe, expect, it } from "vitest";
import { kindRegistry } from "../../src/model/kind.ts";
import {
  actions,
  type Case,
  changeOf,
  moveOf,
  planInput,
  planOf,
  type Scene,
  stepsOf,
} from "../support/plan-input.ts";
import { toyKind, toySchema } from "../support/toy-kind.ts";

/** Bound under an old name; what it shows is looked for under the new one. */
const old = (id: string, rest: Case = {}): Case => ({ recorded: { colour: "red" }, id, ...rest });
const now = (id: string, rest: Case = {}): Case => ({
  wants: { colour: "red" },
  has: { colour: "red" },
  recorded: false,
  id,
  ...rest,
});

describe("moved", () => {
  it("gives an object its new address and leaves it as it is", () => {
    const plan = planOf({ before: old("id-1"), after: now("id-1") }, { moved: [moveOf("before", "after")] });
    expect(actions(plan)).toEqual({ after: "move" });
    expect(changeOf(plan, "after")).toMatchObject({ previousAddress: "toys.before", id: "id-1" });
    expect(plan.steps).toMatchObject([
      { operation: "move", from: "toys.before", address: "toys.after", id: "id-1" },
    ]);
  });

  it("changes it on the way, where a field differs too", () => {
    const after = now("id-1", { wants: { colour: "blue" } });
    const plan = planOf({ before: old("id-1"), after }, { moved: [moveOf("before", "after")] });
    expect(actions(plan)).toEqual({ after: "update" });
    expect(stepsOf(plan)).toEqual(["after move", "after update < after#move"]);
  });

  it("moves the binding even where the change itself is blocked", () => {
    const after = now("id-1", { wants: { size: 2 }, has: { size: 1 }, lifecycle: { protect: true } });
    const before = old("id-1", { remembered: { protect: true } });
    const plan = planOf({ before, after }, { moved: [moveOf("before", "after")] });
    expect(actions(plan)).toEqual({ after: "replace !protect" });
    expect(plan.steps.map(({ operation, blocked }) => [operation, blocked.length])).toEqual([
      ["move", 0],
      ["delete", 1],
      ["create", 1],
    ]);
  });

  const chain = [moveOf("first", "second"), moveOf("second", "third")];
  it.each([
    ["in the order of the years", chain],
    ["newest first", [...chain].reverse()],
  ])("follows a chain to its end, %s", (_, moved) => {
    const plan = planOf({ first: old("id-1"), third: now("id-1") }, { moved });
    expect(actions(plan)).toEqual({ third: "move" });
    expect(plan.steps).toMatchObject([{ operation: "move", from: "toys.first", address: "toys.third" }]);
  });

  it("makes room first, where one moves to where another was", () => {
    const scene: Scene = {
      first: old("id-1"),
      second: { ...now("id-1"), recorded: { colour: "red" }, id: "id-2" },
      third: now("id-2"),
    };
    const input = planInput(scene, { moved: chain });
    const first = { ...scene["second"], id: "id-1" };
    const observed = new Map([...input.observed, ...planInput({ second: first }).observed]);
    expect(stepsOf(planOf(scene, { moved: chain, observed }))).toEqual([
      "second move < third#move",
      "third move",
    ]);
  });

  it("destroys nothing where the new address is bound already", () => {
    const scene = {
      before: old("id-1", { has: { colour: "red" } }),
      after: { ...now("id-2"), recorded: { colour: "red" } },
    };
    expect(actions(planOf(scene, { moved: [moveOf("before", "after")] }))).toEqual({
      after: "keep",
      before: "delete !moved-taken",
    });
  });

  it("is suggested where what is deleted has the name of what is created, and nowhere else", () => {
    const named = {
      ...toySchema,
      properties: { ...toySchema.properties, colour: { type: "string", "x-identity": true } },
    } as const;
    const kinds = kindRegistry([toyKind(undefined, { schema: named })]);
    const scene = {
      before: old("id-1", { has: { colour: "red" } }),
      after: { wants: { colour: "red" } },
      other: { wants: { colour: "blue" } },
    };
    const reasonIn = (given: Scene): string | undefined =>
      planOf(given, { kinds }).changes.find(({ action }) => action === "delete")?.reason;
    expect(reasonIn(scene)).toBe(
      "no longer declared; toys.after is to have its name: if it is that one, say so under moved",
    );
    expect(reasonIn({ ...scene, after: { wants: { colour: "green" } } })).toBe("no longer declared");
    expect(reasonIn({ ...scene, after: { wants: { colour: "red" }, has: { colour: "red" } } })).toBe(
      "no longer declared",
    );
  });

  it.each([
    ["two that change places", [moveOf("a", "b"), moveOf("b", "a")]],
    ["one that is moved to itself", [moveOf("a", "a")]],
  ])("is not confused by %s", (_, moved) => {
    const scene = { a: { wants: {}, has: {} }, b: { wants: {}, has: {} } };
    expect(actions(planOf(scene, { moved }))).toEqual({ a: "keep", b: "keep" });
  });

  it("follows the name in what was recorded of others, and corrects the record", () => {
    const properties = {
      ...toySchema.properties,
      home: { ...toySchema.properties["home"], "x-create-only": true },
    };
    const lodger = {
      wants: { home: "after" },
      has: {},
      recorded: { home: "before" },
      refs: ["after"],
      boundRefs: ["before"],
    };
    const plan = planOf(
      { before: old("id-1"), after: now("id-1"), lodger },
      {
        moved: [moveOf("before", "after")],
        kinds: kindRegistry([toyKind(undefined, { schema: { ...toySchema, properties } })]),
      },
    );
    expect(actions(plan)).toEqual({ after: "move", lodger: "keep" });
    expect(plan.steps).toMatchObject([
      { operation: "move" },
      { operation: "bind", record: { home: "after" }, refs: ["toys.after"] },
    ]);
  });
});
