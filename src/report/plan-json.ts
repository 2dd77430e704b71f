/** @module Formats a plan as JSON in the shape of Terraform's plan representation. */
import type { Json, JsonObject } from "../model/json.ts";
import { changeExtras, outputChange, resourceChange, resourceDrift, stepExtras } from "./change-json.ts";
import type { KindNames } from "./kind-words.ts";
import { partialJson } from "./partial-lists.ts";
import { summarize } from "./plan-summary.ts";
import { planValues } from "./plan-values.ts";
import { probesJson } from "./probe-census.ts";
import type { ShownPlan } from "./shown.ts";

/**
 * A plan as JSON, format_version 1.2, so that tools for Terraform can read it; extensions are under `x_graphform`.
 * Print it with `jsonText`, which sorts the keys.
 */
export function planJson(plan: ShownPlan, names: KindNames): JsonObject {
  const changes = [...plan.changes].sort((a, b) => (a.address < b.address ? -1 : 1));
  const { skipped, declared, checked, unmanaged, fields } = plan.census;
  const { restarts, replacements, seconds } = plan.forecast;
  return {
    format_version: "1.2",
    applyable: isApplyable(plan),
    complete: plan.complete,
    errored: false,
    timestamp: plan.timestamp,
    resource_changes: changes.map((change) => resourceChange(change, plan.steps, names)),
    resource_drift: changes.flatMap((change): JsonObject[] => {
      const drift = resourceDrift(change, names);
      return drift === undefined ? [] : [drift];
    }),
    output_changes: mapValues(plan.outputs, outputChange),
    ...planValues({ changes, outputs: plan.outputs }, names),
    x_graphform: {
      name: plan.name,
      lineage: plan.lineage,
      serial: plan.serial,
      fingerprint: plan.fingerprint,
      summary: { ...summarize(plan) },
      census: {
        ...{ declared, checked, skipped, unmanaged, fields: { ...fields } },
        ...probesJson(plan.census),
        ...partialJson(plan.census),
      },
      forecast: { restarts, replacements, seconds },
      changes: Object.fromEntries(changes.map((change) => [change.address, changeExtras(change)])),
      steps: plan.steps.map(stepExtras),
    },
  };
}

/** True if apply would change anything: an unblocked step, or an output. */
function isApplyable(plan: ShownPlan): boolean {
  const outputs = Object.values(plan.outputs).some((output) => output.action !== "no-op");
  return outputs || plan.steps.some((step) => step.blocked.length === 0);
}

function mapValues<T>(values: { readonly [name: string]: T }, to: (value: T) => Json): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]): [string, Json] => [name, to(value)]));
}
