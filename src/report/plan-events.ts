/** @module Formats a plan as lines of the event stream. */
import { defined, type Json, type JsonObject } from "../model/json.ts";
import type { Change } from "../model/plan.ts";
import { eventResource, type Stamp, uiEvent } from "./events.ts";
import { hasWork, planLine, summarize } from "./plan-summary.ts";
import type { ShownPlan } from "./shown.ts";
import { verdictOf } from "./view/verdict.ts";
import type { KindNames } from "./words.ts";

/** The events of a plan: drift, changes, the summary, changed outputs. */
export function planEvents(plan: ShownPlan, names: KindNames, stamp: Stamp): readonly JsonObject[] {
  const summary = summarize(plan);
  const { add, change, destroy, adopt, blocked } = summary;
  const changes = { add, change, import: adopt, remove: destroy, operation: "plan" };
  const line = hasWork(plan) ? planLine(summary) : `${verdictOf(plan)} ${planLine(summary)}`;
  return [
    ...plan.changes.filter((entry) => entry.drift.length > 0).map((entry) => driftEvent(entry, names, stamp)),
    ...plan.changes
      .filter((entry) => entry.action !== "keep")
      .map((entry) => plannedEvent(entry, names, stamp)),
    uiEvent("info", "change_summary", line, { changes, x_graphform: { blocked } }, stamp),
    ...outputEvents(plan, stamp),
  ];
}

const words: { readonly [action in Change["action"]]: string } = {
  create: "create",
  update: "update",
  replace: "replace",
  delete: "delete",
  adopt: "import",
  move: "move",
  forget: "remove",
  keep: "noop",
};

function plannedEvent(change: Change<unknown>, names: KindNames, stamp: Stamp): JsonObject {
  const reason = reasonOf(change);
  const payload = {
    change: {
      resource: eventResource(change.address, change.kind, names),
      ...(change.previousAddress === undefined
        ? {}
        : { previous_resource: eventResource(change.previousAddress, change.kind, names) }),
      action: words[change.action],
      ...defined({ reason }),
      ...(change.action === "adopt" ? { importing: { id: change.id ?? "" } } : {}),
    },
    x_graphform: {
      reason: change.reason,
      disruption: change.disruption,
      blocked: change.blocked.map(({ code, message, lift }) => ({ code, message, lift })),
    },
  };
  const blocked = change.blocked.length > 0;
  const message = `${change.address}: Plan to ${words[change.action]}${blocked ? " (blocked)" : ""}`;
  return uiEvent(blocked ? "warn" : "info", "planned_change", message, payload, stamp);
}

function driftEvent(change: Change<unknown>, names: KindNames, stamp: Stamp): JsonObject {
  const payload = {
    change: { resource: eventResource(change.address, change.kind, names), action: "update" },
    x_graphform: { fields: change.drift.map((field) => field.path) },
  };
  return uiEvent("info", "resource_drift", `${change.address}: Drift detected (update)`, payload, stamp);
}

function reasonOf(change: Change<unknown>): string | undefined {
  if (change.action === "delete") return "delete_because_no_resource_config";
  if (change.action !== "replace") return undefined;
  return change.forcedBy === undefined ? "requested" : "cannot_update";
}

function outputEvents(plan: ShownPlan, stamp: Stamp): readonly JsonObject[] {
  const entries = Object.entries(plan.outputs).filter(([, output]) => output.action !== "no-op");
  if (entries.length === 0) return [];
  const outputs = entries.map(([name, output]): [string, Json] => [
    name,
    { action: output.action, sensitive: output.sensitive },
  ]);
  return [
    uiEvent("info", "outputs", `Outputs: ${entries.length}`, { outputs: Object.fromEntries(outputs) }, stamp),
  ];
}
