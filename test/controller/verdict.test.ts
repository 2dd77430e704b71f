import { expect, it } from "vitest";
import {
  appeared,
  beyond,
  difference,
  hasOtherSecret,
  type PlanDocument,
} from "../../src/controller/runs/verdict.ts";
import type { Disruption } from "../../src/index.ts";

/** A plan that changes one database to so many GB. */
function planOf(
  action: string,
  memory: number,
  disruption: Disruption,
  platform = "https://a",
): PlanDocument {
  const after = { config: { maxMemory: memory } };
  return {
    ...{ applyable: true, complete: true },
    resource_changes: [{ address: "instances.a", change: { after } }],
    x_graphform: {
      ...{ serial: 1, fingerprint: "", service: { platform }, steps: [] },
      changes: { "instances.a": { action, disruption, blocked: [] } },
    },
  };
}

it.each([
  ["the same change", planOf("update", 2, "restart"), undefined],
  ["the same change, milder", planOf("update", 2, "none"), undefined],
  ["nothing any more", planOf("keep", 2, "none"), undefined],
  ["another value", planOf("update", 4, "restart"), "other values were approved"],
  ["another action", planOf("delete", 2, "restart"), "update was approved, and not delete"],
  ["the same change, worse for users", planOf("update", 2, "downtime"), "downtime by now, and restart"],
])("a later plan beside an approved update with a restart: %s", (_, later, why) => {
  const found = beyond(planOf("update", 2, "restart"), later);
  expect(found).toEqual(why === undefined ? undefined : expect.stringContaining(why));
});

it.each([difference, beyond])("a later plan of another service is not the approved one: %o", (compare) => {
  const [approved, later] = ["https://a", "https://b"].map((at) => planOf("update", 2, "restart", at));
  if (approved === undefined || later === undefined) throw new Error("unreachable");
  expect(compare(approved, approved)).toBeUndefined();
  expect(compare(approved, later)).toContain("another service");
});

/** An update of an object that an earlier worker has created, which shows the service's defaults. */
function restOf(name: string): PlanDocument {
  const defaults = { networkType: "PUBLIC", power: "running" };
  const before = { ...defaults, config: { description: "Description" } };
  const after = { ...defaults, config: { description: "Description", name } };
  const update = planOf("update", 2, "none");
  return { ...update, resource_changes: [{ address: "instances.a", change: { before, after } }] };
}

it("the rest of an approved create may leave the service's defaults as they are, and sets no other value", () => {
  const created = planOf("create", 2, "none");
  const change = { after: { config: { name: "orders" } } };
  const approved = { ...created, resource_changes: [{ address: "instances.a", change }] };
  expect(beyond(approved, restOf("orders"))).toBeUndefined();
  expect(beyond(approved, restOf("other"))).toContain("other values were approved");
});

it("a create whose object may exist by now is told from one that the approved plan showed beside the same objects", () => {
  const seeing = (...ids: readonly string[]): PlanDocument => {
    const plan = restOf("create");
    const [address = ""] = Object.keys(plan.x_graphform.changes);
    const may_be = ids.length === 0 ? {} : { may_be: { is: "alike", ids, count: ids.length } };
    const change = { action: "create", disruption: "none", blocked: [], ...may_be } as const;
    return { ...plan, x_graphform: { ...plan.x_graphform, changes: { [address]: change } } };
  };
  expect(appeared(seeing(), seeing())).toBeUndefined();
  expect(appeared(seeing("i-1"), seeing("i-1"))).toBeUndefined();
  expect(appeared(seeing("i-1"), seeing("i-1", "i-2"))).toContain("exists by now");
  expect(appeared(seeing(), seeing("i-1"))).toContain("exists by now");
});

it.each([
  ["the same one", 1, ["one"], ["one"], false],
  ["one of two: the rest of it", 1, ["one", "two"], ["two"], false],
  ["another one", 1, ["one"], ["one", "three"], true],
  ["one that had no fingerprint when the plan was made", 0, ["secret.word"], ["one"], false],
  ["one, and the plan was made by a version that kept none", 1, undefined, ["one"], false],
])("a later plan that sends %s", (_, serial, secrets, later, isOther) => {
  const plan = planOf("update", 2, "none");
  const approved = { ...plan, ...(secrets && { secrets }), x_graphform: { ...plan.x_graphform, serial } };
  expect(hasOtherSecret(approved, later)).toBe(isOther);
});
