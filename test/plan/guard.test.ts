import { describe, expect, it } from "vitest";
import { kindRegistry } from "../../src/model/kind.ts";
import { actions, type Case, changeOf, planOf, type Rest, type Scene } from "../support/plan-input.ts";
import { toyKind, toyProfile } from "../support/toy-kind.ts";

const other: Case = { wants: {}, has: {} };
const resized: Case = { wants: { size: 2 }, has: { size: 1 } };
const refuse = { onReplace: "refuse" as const };
const careful = kindRegistry([toyKind(undefined, { protectedByDefault: () => true })]);

interface Row {
  readonly reason: string;
  readonly toy: Case;
  readonly rest?: Rest;
  readonly expected: string;
}

const rows: readonly Row[] = [
  { reason: "nothing guards it", toy: resized, expected: "replace" },
  {
    reason: "the manifest protects it",
    toy: { ...resized, lifecycle: { protect: true } },
    expected: "replace !protect",
  },
  {
    reason: "the kind protects what the manifest does not speak of",
    toy: resized,
    rest: { kinds: careful },
    expected: "replace !protect",
  },
  {
    reason: "the manifest lifts the kind's protection",
    toy: { ...resized, lifecycle: { protect: false } },
    rest: { kinds: careful },
    expected: "replace",
  },
  {
    reason: "the manifest wins over what the state remembers",
    toy: { ...resized, lifecycle: { protect: false }, remembered: { protect: true } },
    expected: "replace",
  },
  {
    reason: "the guard outlives its block",
    toy: { has: {}, remembered: { protect: true } },
    expected: "delete !protect",
  },
  {
    reason: "a guard of the block does not hold back a change in place",
    toy: { wants: { colour: "red" }, has: { colour: "blue" }, lifecycle: { protect: true } },
    expected: "update",
  },
  {
    reason: "a guarded one may be lifted by name",
    toy: { has: {}, remembered: { protect: true } },
    rest: { options: { allowDestroy: ["toys.a"] } },
    expected: "delete",
  },
  {
    reason: "the name of another lifts nothing",
    toy: { has: {}, remembered: { protect: true } },
    rest: { options: { allowDestroy: ["toys.other"] } },
    expected: "delete !protect",
  },
  {
    reason: "a replacement loses data and was not asked for",
    toy: { ...resized, lifecycle: refuse },
    expected: "replace !on-replace",
  },
  {
    reason: "what holds no data may be replaced",
    toy: { ...resized, lifecycle: refuse },
    rest: { kinds: kindRegistry([toyKind(undefined, { holdsData: false })]) },
    expected: "replace",
  },
  {
    reason: "--replace lifts the refusal",
    toy: { ...resized, lifecycle: refuse },
    rest: { options: { replace: ["toys.a"] } },
    expected: "replace",
  },
  {
    reason: "--replace lifts no protection",
    toy: { ...resized, lifecycle: { ...refuse, protect: true } },
    rest: { options: { replace: ["toys.a"] } },
    expected: "replace !protect",
  },
  {
    reason: "--replace replaces what could stay",
    toy: { wants: { size: 1 }, has: { size: 1 } },
    rest: { options: { replace: ["toys.a"] } },
    expected: "replace",
  },
  {
    reason: "--allow-destroy lifts the protection and nothing else",
    toy: { ...resized, lifecycle: { ...refuse, protect: true } },
    rest: { options: { allowDestroy: ["toys.a"] } },
    expected: "replace !on-replace",
  },
  {
    reason: "each guard has its own option",
    toy: { ...resized, lifecycle: { ...refuse, protect: true } },
    rest: { options: { allowDestroy: ["toys.a"], replace: ["toys.a"] } },
    expected: "replace",
  },
  {
    reason: "onDelete: retain keeps what recreate would delete",
    toy: { ...resized, lifecycle: { onDelete: "retain" } },
    expected: "replace !on-replace",
  },
  {
    reason: "onDelete: retain of the last apply does so, too",
    toy: { ...resized, remembered: { onDelete: "retain" } },
    expected: "replace !on-replace",
  },
  {
    reason: "the default follows what exists, not what is wanted in its place",
    toy: resized,
    rest: { kinds: kindRegistry([toyKind(undefined, { protectedByDefault: (spec) => spec["size"] === 1 })]) },
    expected: "replace !protect",
  },
  {
    reason: "what the state protects is not lifted by a block that says nothing",
    toy: { ...resized, remembered: { protect: true } },
    expected: "replace !protect",
  },
  {
    reason: "both guards are shown at once",
    toy: { ...resized, lifecycle: { ...refuse, protect: true } },
    expected: "replace !protect !on-replace",
  },
  {
    reason: "a restart is worse than nothing",
    toy: { wants: { memory: "2GB" }, has: { memory: "1GB" } },
    rest: { guards: { maxDisruption: "none" } },
    expected: "update !max-disruption",
  },
  {
    reason: "a restart is no worse than a restart",
    toy: { wants: { memory: "2GB" }, has: { memory: "1GB" } },
    rest: { guards: { maxDisruption: "restart" } },
    expected: "update",
  },
  {
    reason: "the command line says more than the manifest",
    toy: { wants: { memory: "2GB" }, has: { memory: "1GB" } },
    rest: { guards: { maxDisruption: "none" }, options: { maxDisruption: "restart" } },
    expected: "update",
  },
  {
    reason: "a replacement loses data",
    toy: resized,
    rest: { guards: { maxDisruption: "downtime" } },
    expected: "replace !max-disruption",
  },
  {
    reason: "a deletion of what holds no data is downtime",
    toy: { has: {} },
    rest: {
      guards: { maxDisruption: "downtime" },
      kinds: kindRegistry([toyKind(undefined, { holdsData: false })]),
    },
    expected: "delete",
  },
  {
    reason: "the service has no operation to create",
    toy: { wants: {} },
    rest: { profile: { ...toyProfile, operations: {} } },
    expected: "create !not-offered",
  },
  {
    reason: "the service has no operation to change",
    toy: { wants: { colour: "red" }, has: { colour: "blue" } },
    rest: { profile: { ...toyProfile, operations: {} } },
    expected: "update !not-offered",
  },
];

describe("guards of one change", () => {
  it.each(rows)("$reason: $expected", ({ toy, rest, expected }) => {
    expect(actions(planOf({ a: toy, other }, rest))["a"]).toBe(expected);
  });

  it.each<[declared: "retain" | "backup" | "delete", remembered: "retain" | "delete", lift: string]>([
    ["retain", "delete", "lifecycle.onDelete: delete"],
    ["retain", "retain", "apply lifecycle.onDelete: delete first, without this change"],
    ["delete", "retain", "apply lifecycle.onDelete: delete first, without this change"],
    ["backup", "retain", "apply lifecycle.onDelete: delete first, without this change"],
  ])("name a way that works: declared %s, remembered %s", (onDelete, rule, lift) => {
    const held = planOf({ a: { ...resized, lifecycle: { onDelete }, remembered: { onDelete: rule } } });
    expect(changeOf(held, "a").blocked.map((guard) => guard.lift)).toEqual([`--replace toys.a, or ${lift}`]);
    expect(held.steps.some(({ operation }) => operation === "bind")).toBe(false);
    const isFirst = lift.startsWith("apply");
    const lifted: Case = { ...resized, lifecycle: { onDelete: "delete" }, remembered: { onDelete: rule } };
    const first = planOf({ a: { ...lifted, wants: { size: 1 } } });
    expect(first.steps.map((step) => step.onDelete)).toEqual(isFirst ? ["delete"] : []);
    const then = planOf({ a: { ...lifted, remembered: { onDelete: "delete" } } });
    expect(changeOf(then, "a").blocked).toEqual([]);
  });

  it("keep the change in the plan with its fields, and every step of it marked", () => {
    const plan = planOf({ a: { ...resized, lifecycle: { protect: true } } });
    expect(changeOf(plan, "a").fields.map((field) => field.path)).toEqual(["size"]);
    expect(plan.steps.map((step) => step.blocked.map((guard) => guard.code))).toEqual([
      ["protect"],
      ["protect"],
    ]);
  });

  const lifts: readonly [string, Scene, Rest, string][] = [
    [
      "protect",
      { a: { ...resized, lifecycle: { protect: true } } },
      {},
      "--allow-destroy toys.a, or lifecycle.protect: false",
    ],
    [
      "a remembered protect",
      { a: { has: {}, remembered: { protect: true } }, other },
      {},
      "--allow-destroy toys.a",
    ],
    [
      "onReplace",
      { a: { ...resized, lifecycle: refuse } },
      {},
      "--replace toys.a, or lifecycle.onReplace: recreate",
    ],
    ["maxDisruption", { a: resized }, { guards: { maxDisruption: "none" } }, "--max-disruption data-loss"],
  ];
  it.each(lifts)("say how to lift them: %s", (_, scene, rest, lift) => {
    expect(changeOf(planOf(scene, rest), "a").blocked.map((guard) => guard.lift)).toEqual([lift]);
  });

  it("name the field that needs the replacement", () => {
    const plan = planOf({ a: { ...resized, lifecycle: refuse } });
    expect(changeOf(plan, "a").blocked[0]?.message).toBe(
      "size needs a replacement, which is refused: the new one starts empty",
    );
  });
});
