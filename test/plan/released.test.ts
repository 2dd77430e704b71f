import { describe, expect, it } from "vitest";
import { kindRegistry } from "../../src/model/kind.ts";
import type { Removal } from "../../src/model/manifest.ts";
import {
  actions,
  type Case,
  changeOf,
  planOf,
  type Rest,
  somewhere,
  stepsOf,
} from "../support/plan-input.ts";
import { toyKind, toyProfile, toySchema } from "../support/toy-kind.ts";

const home = { ...toySchema.properties["home"], "x-place": true };
const kinds = kindRegistry([
  toyKind(undefined, { schema: { ...toySchema, properties: { ...toySchema.properties, home } } }),
]);
/** A toy that lives in a house, and is no longer declared. */
const lodger: Case = { has: { home: "house" }, refs: ["house"] };
const stays: Case = { wants: { size: 1 }, has: { size: 1 } };

function removal(name: string, more: Partial<Removal> = {}): Removal {
  return { address: `toys.${name}`, destroy: false, where: somewhere, ...more };
}

const plan = (house: Case, more: Rest = {}, cat = lodger): ReturnType<typeof planOf> =>
  planOf({ house, cat, other: stays }, { kinds, ...more });

describe("what is inside of an object that is let go of", () => {
  it.each<[string, Case, Rest]>([
    ["by removed", { has: {} }, { removed: [removal("house")] }],
    ["by onDelete: retain", { has: {}, remembered: { onDelete: "retain" } }, {}],
    [
      "as its own block is left out",
      { has: {}, remembered: { onDelete: "retain" } },
      { removed: [removal("cat", { destroy: true, lifecycle: {} as NonNullable<Removal["lifecycle"]> })] },
    ],
    ["by destroy", { has: {}, remembered: { onDelete: "retain" } }, { destroying: true }],
  ])("is let go of with it, %s: nothing is sent, and it goes first", (_, house, more) => {
    const released = plan(house, more);
    expect(actions(released)).toMatchObject({ cat: "forget", house: "forget" });
    expect(changeOf(released, "cat").reason).toBe(
      "toys.house is let go of and left as it is, with what is inside",
    );
    expect(stepsOf(released).filter((step) => !step.startsWith("other"))).toEqual([
      "house forget < cat",
      "cat forget",
    ]);
  });

  it("is let go of, if the plan leaves that object out, and if nothing else is declared", () => {
    const removed = [removal("house")];
    const alone = plan({ has: {} }, { removed, options: { targets: ["toys.cat"] } });
    expect(actions(alone)).toEqual({ cat: "forget" });
    const empty = planOf({ house: { has: {} }, cat: lodger }, { kinds, removed });
    expect(actions(empty)).toEqual({ cat: "forget", house: "forget" });
  });

  it.each<[string, Case, Rest, string]>([
    ["that object stays declared", { ...stays, has: { size: 1 } }, {}, "keep"],
    ["that object is deleted too", { has: {} }, {}, "delete"],
    [
      "an entry of its own asks for it",
      { has: {} },
      { removed: [removal("house"), removal("cat", { destroy: true })] },
      "forget",
    ],
  ])("is deleted, if %s", (_, house, more, action) => {
    expect(actions(plan(house, more))).toMatchObject({ cat: "delete", house: action });
  });

  it("is deleted, if another address binds that object from now on", () => {
    const scene = { house: { has: {}, id: "h" }, villa: { wants: {}, importId: "h" }, cat: lodger };
    const removed = [removal("house")];
    expect(actions(planOf(scene, { kinds, removed, profile: toyProfile }))["cat"]).toBe("delete");
  });
});
