import { describe, expect, it } from "vitest";
import { instance } from "../../src/kinds/instance.ts";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import { kindRegistry } from "../../src/model/kind.ts";
import { actions, changeOf, planOf } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";

type Modifiable = "yes" | "create only";

/** Specification 2.2, column "Modifiable", typed by hand: field, value before, value after. */
const table: readonly [string, Json, Json, Modifiable][] = [
  ["name", "orders", "orders-2", "yes"],
  ["description", "the orders", "all orders", "yes"],
  ["nodeInstanceType", "m7g.large", "r7g.large", "yes"],
  ["numReplicas", 2, 3, "create only"],
  ["maxMemory", "6GB", "7GB", "yes"],
  ["memoryRequestsAndLimits", "1200M", "2200M", "create only"],
  ["graphdbUser", "app", "app2", "create only"],
  ["graphdbPassword", { $secret: "hmac-sha256:1" }, { $secret: "hmac-sha256:2" }, "yes"],
  ["enableTLS", false, true, "create only"],
  ["enableEnterpriseModule", false, true, "create only"],
  ["AOFPersistenceConfig", "everysec", "always", "create only"],
  ["RDBPersistenceConfig", "low", "high", "create only"],
  ["graphDBCacheSize", 25, 26, "create only"],
  ["graphDBMaxQueuedQueries", 50, 51, "create only"],
  ["graphDBNodeCreationBuffer", 16_384, 16_385, "create only"],
  ["graphDBQueryMemCapacity", 21_474_836_480, 21_474_836_479, "create only"],
  ["graphDBResultSetSize", 10_000, 0, "create only"],
  ["graphDBTimeoutDefault", 0, 1, "create only"],
  ["graphDBTimeoutMax", 0, 45_000, "create only"],
];

const base: JsonObject = {
  tier: "enterprise",
  component: "single-zone",
  cloudProvider: "aws",
  region: "us-east-1",
};
const before: JsonObject = {
  ...base,
  config: Object.fromEntries(table.map(([field, value]) => [field, value])),
};

const endpoint = { method: "POST", host: "platform", path: "/", query: {}, body: {}, answer: {} } as const;
const operations = { "instance.create": endpoint, "instance.update": endpoint, "instance.delete": endpoint };
const rest = { kinds: kindRegistry([instance]), profile: { ...toyProfile, operations } };

function planFrom(
  wants: JsonObject,
  source: "described" | "echoed" | "recorded" = "echoed",
): ReturnType<typeof planOf> {
  return planOf({ "instances.orders": { wants, has: before, source, lifecycle: { protect: false } } }, rest);
}

function config(field: string, value: Json): JsonObject {
  const { config: settings } = before;
  return { ...before, config: { ...(isObject(settings) ? settings : {}), [field]: value } };
}

describe("the fields of specification 2.2", () => {
  it("are all in the table", () => {
    const rows = Object.keys(instance.schema.properties["config"]?.properties ?? {});
    expect(table.map(([field]) => field)).toEqual(rows);
    expect(rows).toHaveLength(19);
  });

  it.each(table)("%s changed alone from %j to %j: %s", (field, _from, to, modifiable) => {
    const plan = planFrom(config(field, to));
    const change = changeOf(plan, "instances.orders");
    const path = `config.${field}`;
    expect(change.fields.map((entry) => entry.path)).toEqual([path]);
    if (modifiable === "yes") {
      expect(change).toMatchObject({ action: "update", fields: [{ effect: "in-place" }] });
      expect(plan.steps).toMatchObject([{ operation: "update", patch: { [path]: to } }]);
    } else {
      expect(change).toMatchObject({ action: "replace", forcedBy: path, fields: [{ effect: "replace" }] });
      expect(plan.steps.map((step) => step.operation)).toEqual(["delete", "create"]);
    }
  });

  it.each(table)("%s is told the same where it is only recorded", (field, _from, to, modifiable) => {
    const plan = planFrom(config(field, to), "recorded");
    const action = modifiable === "yes" ? "update" : "replace";
    expect(changeOf(plan, "instances.orders")).toMatchObject({ action, fields: [{ source: "recorded" }] });
  });

  it.each<[string, Json]>([
    ["tier", "pro"],
    ["component", "multi-zone"],
    ["cloudProvider", "gcp"],
    ["region", "eu-west-1"],
  ])("%s changed alone forces a replacement", (field, to) => {
    const change = changeOf(planFrom({ ...before, [field]: to }), "instances.orders");
    expect(change).toMatchObject({ action: "replace", forcedBy: field, disruption: "data-loss" });
  });

  it.each<[string, string]>([
    ["name", "none"],
    ["description", "none"],
    ["nodeInstanceType", "restart"],
    ["maxMemory", "restart"],
    ["graphdbPassword", "restart"],
  ])("%s: what changing it does to the running database: %s", (field, disruption) => {
    const to = table.find(([name]) => name === field)?.[2] ?? null;
    expect(changeOf(planFrom(config(field, to)), "instances.orders").disruption).toBe(disruption);
  });

  it("are left alone as they are", () => {
    expect(actions(planFrom(before))).toEqual({ "instances.orders": "keep" });
  });

  it("are equal in the service's spelling", () => {
    const echoed = table.flatMap(([field, value]): [string, Json][] =>
      isObject(value) ? [] : [[field, String(value)]],
    );
    const wants = {
      ...base,
      config: Object.fromEntries(
        table.filter(([, value]) => !isObject(value)).map(([field, value]) => [field, value]),
      ),
    };
    const plan = planOf(
      { "instances.orders": { wants, has: { ...base, config: Object.fromEntries(echoed) } } },
      rest,
    );
    expect(actions(plan)).toEqual({ "instances.orders": "keep" });
  });

  it("are protected where the manifest does not say, but on the free tier", () => {
    const plan = planOf(
      {
        "instances.orders": { wants: config("enableTLS", true), has: before },
        "instances.toy": { wants: { tier: "free", region: "b" }, has: { tier: "free", region: "a" } },
      },
      rest,
    );
    expect(actions(plan)).toEqual({ "instances.orders": "replace !protect", "instances.toy": "replace" });
  });
});
