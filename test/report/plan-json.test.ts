import { describe, expect, it } from "vitest";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import type { Change, Plan } from "../../src/model/plan.ts";
import { jsonText } from "../../src/report/typeset.ts";
import { goldenPlans } from "./golden-plans.ts";
import { change, database, field, plan, sealed, step } from "./plan-parts.ts";
import { planJson } from "./rendered.ts";
import { samplePlan } from "./sample-plan.ts";
import { words } from "./words.ts";

function entry(address: string, made: Plan = samplePlan, list = "resource_changes"): JsonObject {
  const found = listAt(made, list).find((item) => isObject(item) && item["address"] === address);
  return isObject(found) ? found : { missing: address };
}

function listAt(made: Plan, list: string): readonly Json[] {
  const found = planJson(made, words)[list];
  return Array.isArray(found) ? found : [];
}

describe("planJson", () => {
  it("has the top of Terraform's plan", () => {
    expect(planJson(samplePlan, words)).toMatchObject({
      format_version: "1.2",
      applyable: true,
      complete: true,
      errored: false,
      timestamp: "2026-03-02T08:30:00.000Z",
    });
  });

  it("names a resource by type, name and index", () => {
    expect(entry('instances.cache["eu-west-1"]')).toMatchObject({
      type: "graphform_instance",
      name: "cache",
      index: "eu-west-1",
      mode: "managed",
      provider_name: "graphform",
    });
    expect(entry("instances.orders")).not.toHaveProperty("index");
  });

  it.each([
    ["keep", "instances.vault", ["no-op"]],
    ["create", "users.reader", ["create"]],
    ["update", "instances.search", ["update"]],
    ["replace, delete first", "instances.orders", ["delete", "create"]],
    ["delete", "instances.trial", ["delete"]],
    ["move", "instances.reports", ["no-op"]],
    ["forget", "instances.legacy", ["forget"]],
  ])("%s", (_, address, actions) => {
    expect(asObject(entry(address)["change"])["actions"]).toEqual(actions);
  });

  it("takes the order of a replacement from its steps", () => {
    const made = goldenPlans["103-replace-create-first"] ?? plan({});
    expect(asObject(entry("networks.core", made)["change"])["actions"]).toEqual(["create", "delete"]);
  });

  it("adopts by importing, and updates what differs", () => {
    const made = goldenPlans["104-adopt-move-incomplete"] ?? plan({});
    expect(entry("instances.orders", made)["change"]).toMatchObject({
      actions: ["no-op"],
      importing: { id: "instance-1" },
    });
    expect(entry("instances.carts", made)["change"]).toMatchObject({
      actions: ["update"],
      importing: { id: "instance-2" },
    });
    expect(entry("instances.reports", made)).toMatchObject({
      previous_address: "instances.analytics",
      change: { actions: ["update"] },
    });
    expect(planJson(made, words)["complete"]).toBe(false);
  });

  it("says why something is replaced or deleted", () => {
    expect(entry("instances.orders")["action_reason"]).toBe("replace_because_cannot_update");
    expect(entry("instances.trial")["action_reason"]).toBe("delete_because_no_resource_config");
    const asked = plan({ changes: [change("replace", "instances.a", {})] });
    expect(entry("instances.a", asked)["action_reason"]).toBe("replace_by_request");
    expect(asObject(entry("instances.orders")["change"])["replace_paths"]).toEqual([
      ["config", "graphDBCacheSize"],
      ["region"],
    ]);
  });

  it("leaves what is not managed as it is, so that an update differs in its fields alone", () => {
    const made = plan({
      changes: [
        change("update", "instances.a", {
          before: database("r", { name: "a", description: "nobody manages this", maxMemory: "6GB" }),
          after: database("r", { maxMemory: "8GB" }),
          fields: [field("config.maxMemory", { before: "6GB", after: "8GB" })],
        }),
        change("keep", "instances.b", {
          before: database("r", { maxMemory: "6144MB" }),
          after: database("r", { maxMemory: "6GB" }),
        }),
      ],
    });
    const { before, after } = asObject(entry("instances.a", made)["change"]);
    expect(after).toEqual({
      ...asObject(before),
      config: { name: "a", description: "nobody manages this", maxMemory: "8GB" },
    });
    const kept = asObject(entry("instances.b", made)["change"]);
    expect(kept["after"]).toEqual(kept["before"]);
  });

  it("masks secrets and marks them: sealed ones, and every field that the table calls secret", () => {
    const made = plan({
      changes: [
        change("create", "instances.a", {
          after: database("r", { graphdbPassword: "hunter2", description: sealed("odd") }),
        }),
        change("create", "users.u", {
          after: { instance: "a", password: { $template: ["x", sealed("u")] } },
        }),
      ],
    });
    expect(entry("instances.a", made)["change"]).toMatchObject({
      after: { config: { graphdbPassword: "(sensitive)", description: "(sensitive)" } },
      after_sensitive: { config: { graphdbPassword: true, description: true } },
    });
    expect(asObject(entry("instances.a", made)["change"])["after_sensitive"]).toEqual({
      config: { graphdbPassword: true, description: true },
    });
    expect(entry("users.u", made)["change"]).toMatchObject({
      after: { password: "(sensitive)" },
      after_sensitive: { password: true },
    });
  });

  it("leaves out what is not known yet, and marks it", () => {
    const endpoint = { $template: [{ $ref: "instances.a.endpoint" }] };
    const made = plan({
      changes: [
        change("create", "instances.b", {
          after: database("r", { description: endpoint, name: ["x", endpoint] }),
        }),
      ],
    });
    const { after, after_unknown } = asObject(entry("instances.b", made)["change"]);
    expect(asObject(after)["config"]).toEqual({ name: ["x", null] });
    expect(after_unknown).toEqual({ config: { description: true, name: [false, true] } });
    const outputs = asObject(planJson(samplePlan, words)["output_changes"]);
    expect(outputs["cacheEndpoint"]).toMatchObject({
      actions: ["create"],
      before: null,
      after_unknown: true,
    });
    expect(outputs["cacheEndpoint"]).not.toHaveProperty("after");
    expect(outputs["sessionsPassword"]).toMatchObject({
      before: "(sensitive)",
      after: "(sensitive)",
      after_sensitive: true,
    });
  });

  it("shows drift as Terraform does, gone objects too", () => {
    expect(entry("instances.sessions", samplePlan, "resource_drift")["change"]).toMatchObject({
      actions: ["update"],
      before: { config: { maxMemory: "6GB" } },
      after: { config: { maxMemory: "4GB" } },
    });
    const gone = goldenPlans["106-gone-failed-waiting-drifted"] ?? plan({});
    expect(entry("instances.orders", gone, "resource_drift")["change"]).toMatchObject({
      actions: ["delete"],
      after: null,
    });
    expect(listAt(samplePlan, "resource_drift")).toHaveLength(1);
  });

  it("keeps ours under x_graphform", () => {
    const ours = asObject(planJson(samplePlan, words)["x_graphform"]);
    expect(ours).toMatchObject({
      fingerprint: "sha256-4a1d",
      summary: { add: 1, change: 2, destroy: 1, blocked: 2 },
      forecast: { restarts: 1, replacements: 0, seconds: 730 },
      census: { declared: 8, fields: { recorded: 19 } },
      changes: {
        "instances.orders": {
          forced_by: "region",
          blocked: [{ code: "protect" }, { code: "on-replace" }],
          fields: {
            "config.graphDBCacheSize": { source: "recorded", effect: "replace", disruption: "data-loss" },
          },
        },
      },
    });
    const steps = ours["steps"];
    expect(Array.isArray(steps) ? steps[1] : undefined).toMatchObject({
      key: "instances.orders",
      after: ["instances.orders#delete"],
      precondition: "sha256-0011",
      blocked: [{ code: "protect" }, { code: "on-replace" }],
    });
  });

  it("can be applied only where a step is open, or an output changes", () => {
    const blocked = [{ code: "protect", message: "protected", lift: "x" }];
    const held = plan({
      changes: [change("delete", "instances.a", { blocked })],
      steps: [step("delete", "instances.a", { blocked })],
    });
    expect(planJson(held, words)["applyable"]).toBe(false);
    expect(planJson(plan({}), words)["applyable"]).toBe(false);
    const output = plan({ outputs: { a: { action: "create", after: 1, unknown: false, sensitive: false } } });
    expect(planJson(output, words)["applyable"]).toBe(true);
  });

  it("says under x_graphform what the database itself has shown, and the way out", () => {
    const drift = [field("config.rows", { before: 10, after: 20, shownBy: "probed", wayOut: "restart it" })];
    const shown = planJson(plan({ changes: [change("keep", "instances.a", { drift })] }), words)[
      "x_graphform"
    ];
    const changes = asObject(asObject(shown)["changes"]);
    expect(asObject(changes["instances.a"])["drift"]).toEqual({
      "config.rows": { secret: false, source: "probed", way_out: "restart it" },
    });
  });

  describe("writes what was observed, what is planned and what is declared", () => {
    const guard = { code: "protect", message: "protected", lift: "x" };
    const seen = database("r", { name: "a", maxMemory: "6GB" });
    const wanted = database("r", { name: "a", maxMemory: "8GB", graphdbPassword: sealed("a") });
    const fields = [field("config.maxMemory", { before: "6GB", after: "8GB" })];
    const sides = { before: seen, after: wanted, fields };
    it.each<[string, Change, string | undefined, string | undefined]>([
      ["a create was not there", change("create", "instances.a", { after: wanted }), undefined, "8GB"],
      ["an update", change("update", "instances.a", sides), "6GB", "8GB"],
      ["a replacement", change("replace", "instances.a", sides), "6GB", "8GB"],
      ["an adoption", change("adopt", "instances.a", sides), "6GB", "8GB"],
      [
        "what stays is planned as it is, not as it is written",
        change("keep", "instances.a", { before: seen, after: database("r", { maxMemory: "6144MB" }) }),
        "6GB",
        "6GB",
      ],
      ["a deletion ends it", change("delete", "instances.a", { before: seen }), "6GB", undefined],
      [
        "what is let go of is no longer managed",
        change("forget", "instances.a", { before: seen }),
        "6GB",
        undefined,
      ],
      [
        "what is gone was not observed: its values are the recorded ones",
        change("create", "instances.a", { before: seen, after: wanted, gone: true, id: "i-1" }),
        undefined,
        "8GB",
      ],
      [
        "what is gone is not there",
        change("forget", "instances.a", { before: seen, gone: true }),
        undefined,
        undefined,
      ],
      [
        "a blocked update stays as it is",
        change("update", "instances.a", { ...sides, blocked: [guard] }),
        "6GB",
        "6GB",
      ],
      [
        "a blocked deletion stays",
        change("delete", "instances.a", { before: seen, blocked: [guard] }),
        "6GB",
        "6GB",
      ],
      [
        "a blocked create makes nothing",
        change("create", "instances.a", { after: wanted, blocked: [guard] }),
        undefined,
        undefined,
      ],
    ])("%s", (_, made, prior, planned) => {
      const json = planJson(plan({ changes: [made] }), words);
      const memory = (values: Json | undefined): Json | undefined => {
        const [only] = resourcesIn(values);
        return asObject(asObject(asObject(only)["values"])["config"])["maxMemory"];
      };
      expect([memory(asObject(json["prior_state"])["values"]), memory(json["planned_values"])]).toEqual([
        prior,
        planned,
      ]);
    });

    it("hides secrets and leaves out what is not known yet, in values and outputs", () => {
      const endpoint = { $template: [{ $ref: "instances.b.endpoint" }] };
      const after = database("r", { graphdbPassword: "hunter2", description: endpoint });
      const json = planJson({ ...samplePlan, changes: [change("create", "instances.a", { after })] }, words);
      expect(resourcesIn(json["planned_values"])).toEqual([
        {
          ...{ address: "instances.a", mode: "managed", type: "graphform_instance", name: "a" },
          provider_name: "graphform",
          values: {
            ...{ tier: "enterprise", component: "single-zone", cloudProvider: "aws", region: "r" },
            config: { graphdbPassword: "(sensitive)" },
          },
          sensitive_values: { config: { graphdbPassword: true } },
        },
      ]);
      expect(asObject(json["planned_values"])["outputs"]).toEqual({
        cacheEndpoint: { sensitive: false },
        ordersUrl: { sensitive: false },
        sessionsPassword: { sensitive: true, value: "(sensitive)" },
        searchPort: { sensitive: false, value: 6379 },
      });
      const { values } = asObject(json["prior_state"]);
      expect(Object.keys(asObject(asObject(values)["outputs"])).sort()).toEqual([
        "ordersUrl",
        "searchPort",
        "sessionsPassword",
      ]);
    });

    it("calls a value constant only in a resource that refers to no other, and never a secret", () => {
      const user = { instance: "a", username: "u" };
      const changes = [
        change("create", "instances.a", { after: { region: "r", "config.graphdbPassword": sealed("a") } }),
        change("create", 'instances.c["x"]', { after: { region: "x" }, refs: ["networks.n"] }),
        change("create", 'instances.c["y"]', { after: { region: "y" }, refs: ["networks.n"] }),
        change("keep", "users.u", { before: user, after: user, refs: ["instances.a"] }),
        change("delete", "networks.old", { before: { region: "r" } }),
      ];
      expect(resourcesIn(planJson(plan({ changes }), words)["configuration"])).toEqual([
        {
          ...{ address: "instances.a", mode: "managed", type: "graphform_instance", name: "a" },
          expressions: { region: { constant_value: "r" } },
        },
        {
          ...{ address: "instances.c", mode: "managed", type: "graphform_instance", name: "c" },
          expressions: {},
          for_each_expression: {},
          depends_on: ["networks.n"],
        },
        {
          ...{ address: "users.u", mode: "managed", type: "graphform_user", name: "u" },
          expressions: {},
          depends_on: ["instances.a"],
        },
      ]);
    });

    it("has no configuration where the plan knows of none, as one of destroy", () => {
      const made = plan({ changes: [change("delete", "instances.a", { before: seen })] });
      expect(planJson(made, words)).not.toHaveProperty("configuration");
    });

    it("grows with the number of resources, not with its square", () => {
      const size = (count: number): number => {
        const changes = Array.from({ length: count }, (_, at) =>
          change("create", `instances.c["${String(at).padStart(4, "0")}"]`, {
            after: wanted,
            refs: ["networks.n"],
          }),
        );
        return jsonText(planJson(plan({ changes }), words)).length;
      };
      expect(size(400) / size(200)).toBeLessThan(2.05);
    });
  });

  it("survives names that reach for the prototype", () => {
    const spec: JsonObject = JSON.parse('{"config":{"__proto__":{"polluted":true},"constructor":"x"}}');
    const made = plan({
      changes: [
        change("create", "instances.a", { after: spec }),
        change("create", "__proto__.a", { after: spec }),
      ],
    });
    expect(jsonText(planJson(made, words))).toContain(
      '"config":{"__proto__":{"polluted":true},"constructor":"x"}',
    );
    expect(entry("__proto__.a", made)["type"]).toBe("graphform___proto__");
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});

/** The resources of one part of a plan. */
function resourcesIn(part: Json | undefined): readonly Json[] {
  const { resources } = asObject(asObject(part)["root_module"]);
  return Array.isArray(resources) ? resources : [];
}

function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
