/** @module Formats the events and the result of an apply as JSON for the event stream. */
import { defined, type JsonObject } from "../model/json.ts";
import type { ApplyEvent, Outcome, StepOutcome, Unsettled } from "../model/outcome.ts";
import type { Operation } from "../model/plan.ts";
import { eventResource, noticeEvent, uiEvent } from "./events.ts";
import { typedOutputs } from "./outputs-json.ts";
import { doneWords, stepWords } from "./progress-text.ts";
import type { ShownOutcome } from "./shown.ts";
import type { ShownValue } from "./shown-value.ts";
import { elapsedTime, type KindNames } from "./words.ts";

/** One event of a running apply as one line of the stream. */
export function applyEvent(event: ApplyEvent, names: KindNames): JsonObject {
  switch (event.type) {
    case "step-start": {
      const message = `${event.address}: ${stepWords(event.operation, event.verb).doing}...`;
      return uiEvent("info", "apply_start", message, { hook: hookOf(event, names), ...extras(event) });
    }
    case "step-progress": {
      const { doing } = stepWords(event.operation, event.verb);
      const message = `${event.address}: still ${doing}... [${elapsedTime(event.elapsed)} elapsed] ${event.detail}`;
      const hook = { ...hookOf(event, names), elapsed_seconds: seconds(event.elapsed) };
      return uiEvent("info", "apply_progress", message, { hook, ...extras(event, { status: event.detail }) });
    }
    case "step-end":
      return stepEndEvent(event.outcome, names);
    case "warning":
      return noticeEvent("warn", { summary: event.message, ...defined({ address: event.address }) });
  }
}

/** The result as lines of the stream: unfinished steps with reasons, the summary, the outputs. */
export function outcomeEvents(outcome: ShownOutcome, command: Command = "apply"): readonly JsonObject[] {
  const { added, changed, destroyed, exitCode, resumed } = outcome;
  const changes = { add: added, change: changed, import: 0, remove: destroyed, operation: command };
  const level = exitCode === 0 ? "info" : "error";
  const outputs = typedOutputs(outcome.outputs);
  const count = Object.keys(outputs).length;
  return [
    ...outcome.warnings.map((summary) => noticeEvent("warn", { summary })),
    ...outcome.steps.filter((step) => step.result !== "done").map((step) => unfinishedEvent(step)),
    ...outcome.certificate.map((left) =>
      noticeEvent("error", { summary: "not as declared after apply", detail: unsettledWords(left) }),
    ),
    uiEvent(level, "change_summary", lastLine(outcome, command), {
      changes,
      x_graphform: { exit_code: exitCode, ...defined({ resumed }) },
    }),
    ...(count === 0 ? [] : [uiEvent("info", "outputs", `Outputs: ${count}`, { outputs })]),
  ];
}

function stepEndEvent(step: StepOutcome, names: KindNames): JsonObject {
  const hook = { ...hookOf(step, names), elapsed_seconds: seconds(step.elapsed) };
  const more = extras(step, { result: step.result });
  if (step.result === "done") {
    const message = `${step.address}: ${doneWords(step)} after ${elapsedTime(step.elapsed)}`;
    return uiEvent("info", "apply_complete", message, { hook, ...more });
  }
  const message = `${step.address}: ${step.result}${step.message === undefined ? "" : `: ${step.message}`}`;
  return uiEvent(isError(step) ? "error" : "warn", "apply_errored", message, { hook, ...more });
}

function unfinishedEvent(step: StepOutcome): JsonObject {
  const notice = {
    summary: step.message ?? `${step.address} is not done: ${step.result}`,
    ...defined({ detail: step.hint }),
    address: step.address,
    x_graphform: { key: step.key, result: step.result },
  };
  return noticeEvent(isError(step) ? "error" : "warn", notice);
}

function isError(step: StepOutcome): boolean {
  return step.result === "failed" || step.result === "stale";
}

type StepIdentity = Pick<StepOutcome, "key" | "address" | "kind" | "operation"> &
  Partial<Pick<StepOutcome, "id" | "verb">>;

function hookOf(step: StepIdentity, names: KindNames): JsonObject {
  return {
    resource: eventResource(step.address, step.kind, names),
    action: actions[step.operation],
    ...(step.id === undefined ? {} : { id_key: "id", id_value: step.id }),
  };
}

/** Operations by the names of Terraform's stream. */
const actions: { readonly [operation in Operation]: string } = {
  create: "create",
  update: "update",
  delete: "delete",
  heal: "update",
  migrate: "update",
  operate: "update",
  backup: "read",
  bind: "import",
  forget: "remove",
  wait: "noop",
  move: "move",
};

function extras(step: StepIdentity, more: JsonObject = {}): JsonObject {
  const verb = step.verb === undefined ? {} : { verb: step.verb };
  return { x_graphform: { key: step.key, operation: step.operation, ...verb, ...more } };
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

/** The unfinished steps, grouped by result in the order of the report; equal messages of one address appear once. */
export function unfinished(
  steps: readonly StepOutcome[],
): readonly (readonly [StepOutcome["result"], readonly StepOutcome[]])[] {
  return results.flatMap((result) => {
    const found = steps.filter((step) => step.result === result);
    const once = new Map(found.map((step) => [`${step.address} ${step.message ?? ""}`, step]));
    return found.length === 0 ? [] : [[result, [...once.values()]] as const];
  });
}

const results: readonly StepOutcome["result"][] = [
  "failed",
  "stale",
  "interrupted",
  "waiting-for-person",
  "converging",
  "blocked",
  "skipped",
];

/** Words a difference that is left after an apply, in one line. */
export function unsettledWords({ address, reason, field }: Unsettled<ShownValue>): string {
  if (field === undefined) return `${address}: ${reason}`;
  const [before, after] = [field.before?.text ?? "not shown", field.after?.text ?? "not shown"];
  return `${address}: ${field.path} is ${before} after apply, and ${after} was declared`;
}

/** The command of the run, for messages that tell to run it again. */
export type Command = "apply" | "destroy";

/** The last line of every apply and destroy. Its form is stable, because scripts read it. */
export function lastLine(
  { added, changed, destroyed, exitCode }: Outcome<unknown>,
  command: Command,
): string {
  const ending = exitCode === 0 ? "complete!" : "incomplete.";
  return command === "destroy"
    ? `Destroy ${ending} Resources: ${destroyed} destroyed.`
    : `Apply ${ending} Resources: ${added} added, ${changed} changed, ${destroyed} destroyed.`;
}
