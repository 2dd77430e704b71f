import { describe, expect, it } from "vitest";
import { GraphformError } from "../../src/model/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { ApplyEvent } from "../../src/model/outcome.ts";
import { applyEvent, errorEvent, problemEvents, stamped, versionEvent } from "../../src/report/events.ts";
import { jsonText } from "../../src/report/typeset.ts";
import { ended, roughOutcome } from "./apply-parts.ts";
import { at, change, field, plan } from "./plan-parts.ts";
import { outcomeEvents, planEvents } from "./rendered.ts";
import { samplePlan } from "./sample-plan.ts";
import { words } from "./words.ts";

const step = { key: "instances.orders", address: "instances.orders", kind: "instances" } as const;

const stream: readonly JsonObject[] = [
  versionEvent("0.1.0"),
  ...planEvents(samplePlan, words),
  applyEvent({ type: "step-start", ...step, operation: "update", id: "instance-1" }, words),
  applyEvent(
    { type: "step-progress", ...step, operation: "update", elapsed: 10_400, detail: "MODIFYING" },
    words,
  ),
  applyEvent({ type: "step-end", outcome: ended("instances.orders", { id: "instance-1" }) }, words),
  applyEvent({ type: "warning", message: "no answer" }, words),
  ...outcomeEvents(roughOutcome),
];

describe("event stream", () => {
  it("gives every line the envelope", () => {
    for (const event of stream) {
      expect(event).toMatchObject({
        "@level": expect.stringMatching(/^(info|warn|error)$/),
        "@message": expect.any(String),
        "@module": "graphform.ui",
        type: expect.any(String),
      });
      expect(jsonText(event)).not.toContain("\n");
    }
  });

  it("stamps a line with the time of its writing", () => {
    expect(stamped({ type: "version" }, 0)).toEqual({
      "@timestamp": "1970-01-01T00:00:00.000Z",
      type: "version",
    });
  });

  it("begins with the version", () => {
    expect(stream[0]).toMatchObject({ type: "version", graphform: "0.1.0", ui: "1.2" });
  });

  it("announces each change in the stream's own words", () => {
    const planned = stream.filter((event) => event["type"] === "planned_change");
    expect(planned.map((event) => event["change"])).toEqual([
      expect.objectContaining({ action: "replace", reason: "cannot_update" }),
      expect.objectContaining({ action: "create" }),
      expect.objectContaining({ action: "update" }),
      expect.objectContaining({ action: "update" }),
      expect.objectContaining({
        action: "create",
        resource: expect.objectContaining({
          addr: 'instances.cache["eu-west-1"]',
          resource_type: "graphform_instance",
          resource_key: "eu-west-1",
        }),
      }),
      expect.objectContaining({ action: "delete", reason: "delete_because_no_resource_config" }),
      expect.objectContaining({
        action: "move",
        previous_resource: expect.objectContaining({ addr: "instances.analytics" }),
      }),
      expect.objectContaining({ action: "remove" }),
    ]);
    expect(planned[0]).toMatchObject({
      "@level": "warn",
      x_graphform: { blocked: [{ code: "protect" }, { code: "on-replace" }] },
    });
  });

  it("carries the two summaries with their exact lines", () => {
    const [planned, applied] = stream.filter((event) => event["type"] === "change_summary");
    expect(planned).toMatchObject({
      "@message": "Plan: 1 to add, 2 to change, 1 to destroy.",
      changes: { add: 1, change: 2, import: 0, remove: 1, operation: "plan" },
    });
    expect(applied).toMatchObject({
      "@message": expect.stringMatching(
        /^Apply incomplete\. .*Resources: 1 added, 0 changed, 0 destroyed\.$/,
      ),
      changes: { add: 1, change: 0, remove: 0, operation: "apply" },
      x_graphform: { exit_code: 1 },
    });
    expect(planEvents(plan({}), words).at(-1)).toMatchObject({
      "@message": "No differences found. Plan: 0 to add, 0 to change, 0 to destroy.",
    });
    const drifted = plan({ changes: [change("keep", "instances.a", { drift: [field("config.rows", {})] })] });
    expect(planEvents(drifted, words).at(-1)).toMatchObject({
      "@message":
        "Nothing to apply: 1 resource was changed outside, and apply leaves it as it is. Plan: 0 to add, 0 to change, 0 to destroy.",
    });
  });

  it("tells start, progress and end as hooks", () => {
    const hook = {
      resource: { addr: "instances.orders" },
      action: "update",
      id_key: "id",
      id_value: "instance-1",
    };
    expect(stream.find((event) => event["type"] === "apply_start")).toMatchObject({ hook });
    expect(stream.find((event) => event["type"] === "apply_progress")).toMatchObject({
      "@message": "instances.orders: still updating... [10s elapsed] MODIFYING",
      hook: { elapsed_seconds: 10 },
      x_graphform: { status: "MODIFYING" },
    });
    expect(stream.find((event) => event["type"] === "apply_complete")).toMatchObject({
      "@message": "instances.orders: created after 12s",
      hook: { elapsed_seconds: 12, id_value: "instance-1" },
    });
  });

  it.each<[ApplyEvent & { readonly type: "step-end" }, string]>([
    [{ type: "step-end", outcome: ended("instances.a", { result: "failed", message: "no" }) }, "error"],
    [{ type: "step-end", outcome: ended("instances.a", { result: "stale", message: "no" }) }, "error"],
    [{ type: "step-end", outcome: ended("instances.a", { result: "converging", message: "no" }) }, "warn"],
    [{ type: "step-end", outcome: ended("instances.a", { result: "waiting-for-person" }) }, "warn"],
  ])("a step that is not done is errored, and says how bad that is ($outcome.result)", (event, level) => {
    expect(applyEvent(event, words)).toMatchObject({
      "@level": level,
      type: "apply_errored",
      x_graphform: { result: event.outcome.result },
    });
  });

  it("names every step that is not done, once, and shows no secret output", () => {
    const notices = outcomeEvents(roughOutcome).filter((event) => event["type"] === "diagnostic");
    expect(notices).toHaveLength(10);
    expect(notices.at(-1)).toMatchObject({
      diagnostic: { severity: "error", summary: "not as declared after apply" },
    });
    expect(stream.at(-1)).toMatchObject({
      type: "outputs",
      outputs: {
        endpoint: { sensitive: false, type: "string", value: "orders.example.net:6379" },
        password: { sensitive: true, type: "string" },
        port: { type: "number", value: 6379 },
      },
    });
    expect(JSON.stringify(stream)).not.toContain("hmac-");
  });

  it("turns problems and errors into diagnostics", () => {
    const [problem] = problemEvents([
      { code: "unknown-key", severity: "warning", message: "odd", range: at(7), hint: "leave it" },
    ]);
    expect(problem).toMatchObject({
      "@level": "warn",
      "@message": "Warning: odd",
      diagnostic: {
        severity: "warning",
        summary: "odd",
        detail: "leave it",
        range: { start: { line: 7, column: 3 } },
      },
    });
    const known = new GraphformError("locked", "the state is locked", { hint: "wait", exitCode: 5 });
    expect(errorEvent(known)).toMatchObject({
      "@level": "error",
      diagnostic: {
        summary: "the state is locked",
        detail: "wait",
        x_graphform: { code: "locked", exit_code: 5 },
      },
    });
  });
});
