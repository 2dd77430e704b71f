/** @module Formats errors, problems and plans as lines of the event stream, in the shape of Terraform's UI stream. */
import { type Address, parseAddress } from "../model/address.ts";
import type { GraphformError } from "../model/errors.ts";
import { defined, type Json, type JsonObject } from "../model/json.ts";
import type { Change } from "../model/plan.ts";
import type { Problem } from "../model/problem.ts";
import { escapeText } from "./escape.ts";
import { hasWork, planLine, summarize, verdictOf } from "./plan-summary.ts";
import { diagnosticOf } from "./problems-json.ts";
import type { ShownPlan } from "./shown.ts";
import { type KindNames, typeOf } from "./words.ts";

/** Severity of a line. */
export type Level = "info" | "warn" | "error";

/** One line of the stream, without its time. `message` may contain text of the service; it is escaped. */
export function uiEvent(level: Level, type: string, message: string, payload: JsonObject): JsonObject {
  return {
    "@level": level,
    "@message": escapeText(message),
    "@module": "graphform.ui",
    type,
    ...payload,
  };
}

/** A line with the time at which it is written, in ms since 1970. Reports do not read the clock. */
export function stamped(event: JsonObject, now: number): JsonObject {
  return { ...event, "@timestamp": new Date(now).toISOString() };
}

/** The first line of every stream. `version` is that of graphform, `ui` that of the stream format. */
export function versionEvent(version: string): JsonObject {
  return uiEvent("info", "version", `graphform ${version}`, { graphform: version, ui: "1.2" });
}

/** Problems of the manifest, one line each. */
export function problemEvents(problems: readonly Problem[]): readonly JsonObject[] {
  return problems.map((problem) => {
    const level = problem.severity === "error" ? "error" : "warn";
    const title = level === "error" ? "Error" : "Warning";
    return uiEvent(level, "diagnostic", `${title}: ${problem.message}`, {
      diagnostic: diagnosticOf(problem),
    });
  });
}

/** An error as a diagnostic. */
export function errorEvent({ message, hint = "", code, exitCode }: GraphformError): JsonObject {
  const notice = { summary: message, detail: hint, x_graphform: { code, exit_code: exitCode } };
  return noticeEvent("error", notice);
}

/** A diagnostic without a position in the manifest. */
export function noticeEvent(
  level: "warn" | "error",
  notice: {
    readonly summary: string;
    readonly detail?: string;
    readonly address?: string;
    readonly x_graphform?: Json;
  },
): JsonObject {
  const severity = level === "error" ? "error" : "warning";
  const diagnostic = {
    severity,
    ...notice,
    summary: escapeText(notice.summary),
    detail: escapeText(notice.detail ?? ""),
  };
  const title = level === "error" ? "Error" : "Warning";
  return uiEvent(level, "diagnostic", `${title}: ${notice.summary}`, { diagnostic });
}

/** The `resource` object of an event, in the shape of Terraform's stream. */
export function eventResource(address: Address, kind: string, names: KindNames): JsonObject {
  const parts = parseAddress(address);
  return {
    addr: address,
    module: "",
    resource: address,
    implied_provider: "graphform",
    resource_type: typeOf(kind, names),
    resource_name: parts?.name ?? address,
    resource_key: parts?.key ?? null,
  };
}

/** The events of a plan: drift, changes, the summary, changed outputs. */
export function planEvents(plan: ShownPlan, names: KindNames): readonly JsonObject[] {
  const summary = summarize(plan);
  const { add, change, destroy, adopt, blocked } = summary;
  const changes = { add, change, import: adopt, remove: destroy, operation: "plan" };
  const line = hasWork(plan) ? planLine(summary) : `${verdictOf(plan)} ${planLine(summary)}`;
  return [
    ...plan.changes.filter((entry) => entry.drift.length > 0).map((entry) => driftEvent(entry, names)),
    ...plan.changes.filter((entry) => entry.action !== "keep").map((entry) => plannedEvent(entry, names)),
    uiEvent("info", "change_summary", line, { changes, x_graphform: { blocked } }),
    ...outputEvents(plan),
  ];
}

const words: { readonly [action in Change["action"]]: string } = {
  create: "create",
  update: "update",
  replace: "replace",
  migrate: "replace",
  delete: "delete",
  adopt: "import",
  move: "move",
  forget: "remove",
  keep: "noop",
};

function plannedEvent(change: Change<unknown>, names: KindNames): JsonObject {
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
  return uiEvent(blocked ? "warn" : "info", "planned_change", message, payload);
}

function driftEvent(change: Change<unknown>, names: KindNames): JsonObject {
  const payload = {
    change: { resource: eventResource(change.address, change.kind, names), action: "update" },
    x_graphform: { fields: change.drift.map((field) => field.path) },
  };
  return uiEvent("info", "resource_drift", `${change.address}: Drift detected (update)`, payload);
}

function reasonOf(change: Change<unknown>): string | undefined {
  if (change.action === "delete") return "delete_because_no_resource_config";
  if (change.action !== "replace" && change.action !== "migrate") return undefined;
  return change.forcedBy === undefined ? "requested" : "cannot_update";
}

function outputEvents(plan: ShownPlan): readonly JsonObject[] {
  const entries = Object.entries(plan.outputs).filter(([, output]) => output.action !== "no-op");
  if (entries.length === 0) return [];
  const outputs = entries.map(([name, output]): [string, Json] => [
    name,
    { action: output.action, sensitive: output.sensitive },
  ]);
  return [uiEvent("info", "outputs", `Outputs: ${entries.length}`, { outputs: Object.fromEntries(outputs) })];
}
