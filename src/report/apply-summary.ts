/** @module Groups the unfinished steps of an apply and writes its last line. */
import type { Outcome, StepOutcome, Unsettled } from "../model/outcome.ts";
import type { ShownValue } from "./shown-value.ts";

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

/** What is left to do after an apply, in a line. */
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
