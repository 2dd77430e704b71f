/** @module Formats errors, problems, plans and applies as lines of the event stream, in the shape of the UI stream of Terraform. */
import { type Address, parseAddress } from "../model/address.ts";
import type { GraphformError, Problem } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import type { ApplyEvent, StepOutcome } from "../model/outcome.ts";
import { type Change, hasChanges, type Operation } from "../model/plan.ts";
import { type Command, doneWords, lastLine, stepWords, unsettledWords } from "./apply-text.ts";
import { actionReason } from "./change-json.ts";
import { planLine, summarize, verdictOf } from "./plan-summary.ts";
import { diagnosticOf, errorDiagnostic, noticeOf } from "./problems.ts";
import type { RedactedOutcome, RedactedPlan } from "./redact.ts";
import { outputsJson } from "./state-text.ts";
import { escapeText } from "./typeset.ts";
import { elapsedTime, type KindNames, typeOf } from "./words.ts";

/** One line of the stream, without its time. `message` may contain text of the service; it is escaped. */
function uiEvent(
  level: "info" | "warn" | "error",
  type: string,
  message: string,
  payload: JsonObject,
): JsonObject {
  const head = { "@level": level, "@message": escapeText(message), "@module": "graphform.ui" };
  return { ...head, type, ...payload };
}

/** A line with the time at which it is written, in ms since 1970. Reports do not read the clock. */
export function stamped(event: JsonObject, now: number): JsonObject {
  return { ...event, "@timestamp": new Date(now).toISOString() };
}

/** The first line of every stream. `version` is that of graphform, `ui` that of the stream format. */
export function versionEvent(version: string): JsonObject {
  return uiEvent("info", "version", `graphform ${version}`, { graphform: version, ui: "1.2" });
}

export function problemEvents(problems: readonly Problem[]): readonly JsonObject[] {
  return problems.map((problem) => diagnosticEvent(problem.severity, problem.message, diagnosticOf(problem)));
}

function diagnosticEvent(severity: Problem["severity"], summary: string, diagnostic: JsonObject): JsonObject {
  const [level, title] =
    severity === "error" ? (["error", "Error"] as const) : (["warn", "Warning"] as const);
  return uiEvent(level, "diagnostic", `${title}: ${summary}`, { diagnostic });
}

export function errorEvent(error: GraphformError): JsonObject {
  return diagnosticEvent("error", error.message, errorDiagnostic(error));
}

function noticeEvent(...notice: Parameters<typeof noticeOf>): JsonObject {
  const [severity, summary] = notice;
  return diagnosticEvent(severity, summary, noticeOf(...notice));
}

/** The `resource` object of an event, in the shape of Terraform's stream. */
function eventResource(address: Address, kind: string, names: KindNames): JsonObject {
  const { name = address, key = null } = parseAddress(address) ?? {};
  return {
    ...{ addr: address, module: "", resource: address, implied_provider: "graphform" },
    ...{ resource_type: typeOf(kind, names), resource_name: name, resource_key: key },
  };
}

export function planEvents(plan: RedactedPlan, names: KindNames): readonly JsonObject[] {
  const summary = summarize(plan);
  const { add, change, destroy, adopt, blocked } = summary;
  const changes = { add, change, import: adopt, remove: destroy, operation: "plan" };
  const line = hasChanges(plan) ? planLine(summary) : `${verdictOf(plan)} ${planLine(summary)}`;
  return [
    ...plan.changes.filter((entry) => entry.drift.length > 0).map((entry) => driftEvent(entry, names)),
    ...plan.changes.filter((entry) => entry.action !== "keep").map((entry) => plannedEvent(entry, names)),
    uiEvent("info", "change_summary", line, { changes, x_graphform: { blocked } }),
    ...outputEvents(plan),
  ];
}

/** Operations and actions by the names of Terraform's stream. */
export const streamWords: { readonly [action in Operation | Change["action"]]: string } = {
  create: "create",
  update: "update",
  replace: "replace",
  migrate: "replace",
  delete: "delete",
  adopt: "import",
  move: "move",
  forget: "remove",
  keep: "noop",
  heal: "update",
  operate: "update",
  backup: "read",
  bind: "import",
  wait: "noop",
};

function plannedEvent(change: Change<unknown>, names: KindNames): JsonObject {
  const { address, action, kind, previousAddress, reason, disruption, blocked } = change;
  const payload = {
    change: {
      resource: eventResource(address, kind, names),
      ...(previousAddress && { previous_resource: eventResource(previousAddress, kind, names) }),
      action: streamWords[action],
      ...defined({ reason: actionReason(change).event }),
      ...(action === "adopt" ? { importing: { id: change.id ?? "" } } : {}),
    },
    x_graphform: { reason, disruption, blocked: blocked.map((guard) => ({ ...guard })) },
  };
  const isHeld = blocked.length > 0;
  const message = `${address}: Plan to ${streamWords[action]}${isHeld ? " (blocked)" : ""}`;
  return uiEvent(isHeld ? "warn" : "info", "planned_change", message, payload);
}

function driftEvent(change: Change<unknown>, names: KindNames): JsonObject {
  const payload = {
    change: { resource: eventResource(change.address, change.kind, names), action: "update" },
    x_graphform: { fields: change.drift.map((field) => field.path) },
  };
  return uiEvent("info", "resource_drift", `${change.address}: Drift detected (update)`, payload);
}

function outputEvents(plan: RedactedPlan): readonly JsonObject[] {
  const entries = Object.entries(plan.outputs).filter(([, output]) => output.action !== "no-op");
  if (entries.length === 0) return [];
  const outputs = entries.map(([name, { action, sensitive }]) => [name, { action, sensitive }] as const);
  return [uiEvent("info", "outputs", `Outputs: ${entries.length}`, { outputs: Object.fromEntries(outputs) })];
}

export function applyEvent(event: ApplyEvent, names: KindNames): JsonObject {
  switch (event.type) {
    case "step-start": {
      const message = `${event.address}: ${stepWords(event.operation, event.verb).doing}...`;
      return uiEvent("info", "apply_start", message, stepPayload(event, names));
    }
    case "step-progress": {
      const { address, elapsed, detail: status } = event;
      const { doing } = stepWords(event.operation, event.verb);
      const message = `${address}: still ${doing}... [${elapsedTime(elapsed)} elapsed] ${status}`;
      return uiEvent("info", "apply_progress", message, stepPayload(event, names, { status }));
    }
    case "step-end":
      return stepEndEvent(event.outcome, names);
    case "warning":
      return noticeEvent("warning", event.message, "", defined({ address: event.address }));
  }
}

export function outcomeEvents(outcome: RedactedOutcome, command: Command = "apply"): readonly JsonObject[] {
  const { added, changed, destroyed, exitCode, resumed } = outcome;
  const changes = { add: added, change: changed, import: 0, remove: destroyed, operation: command };
  const level = exitCode === 0 ? "info" : "error";
  const outputs = outputsJson(outcome.outputs, true);
  const count = Object.keys(outputs).length;
  return [
    ...outcome.warnings.map((summary) => noticeEvent("warning", summary)),
    ...outcome.steps.flatMap((step) => {
      const { address, key, result, message = `${address} is not done: ${result}`, hint } = step;
      if (result === "done") return [];
      return [noticeEvent(severityOf(step), message, hint, { address, x_graphform: { key, result } })];
    }),
    ...outcome.certificate.map((left) =>
      noticeEvent("error", "not as declared after apply", unsettledWords(left)),
    ),
    uiEvent(level, "change_summary", lastLine(outcome, command), {
      changes,
      x_graphform: { exit_code: exitCode, ...defined({ resumed }) },
    }),
    ...(count === 0 ? [] : [uiEvent("info", "outputs", `Outputs: ${count}`, { outputs })]),
  ];
}

function stepEndEvent(step: StepOutcome, names: KindNames): JsonObject {
  const { address, result, elapsed, message } = step;
  const payload = stepPayload(step, names, { result });
  if (result === "done") {
    const done = `${address}: ${doneWords(step)} after ${elapsedTime(elapsed)}`;
    return uiEvent("info", "apply_complete", done, payload);
  }
  const why = message === undefined ? "" : `: ${message}`;
  const level = severityOf(step) === "error" ? "error" : "warn";
  return uiEvent(level, "apply_errored", `${address}: ${result}${why}`, payload);
}

function severityOf({ result }: StepOutcome): Problem["severity"] {
  return result === "failed" || result === "stale" ? "error" : "warning";
}

/** The payload of an event of a step; `more` stands beside its key. */
function stepPayload(
  step: Pick<StepOutcome, "key" | "address" | "kind" | "operation"> &
    Partial<Pick<StepOutcome, "id" | "verb" | "elapsed">>,
  names: KindNames,
  more: JsonObject = {},
): JsonObject {
  const { key, address, kind, operation, id, verb, elapsed } = step;
  return {
    hook: {
      resource: eventResource(address, kind, names),
      // One step of a migration changes a part; the migration as a whole replaces.
      action: operation === "migrate" ? "update" : streamWords[operation],
      ...(id === undefined ? {} : { id_key: "id", id_value: id }),
      ...(elapsed === undefined ? {} : { elapsed_seconds: Math.round(elapsed / 1000) }),
    },
    x_graphform: { key, operation, ...defined({ verb }), ...more },
  };
}
