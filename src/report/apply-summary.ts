import type { Outcome, StepOutcome } from "../model/outcome.ts";

/** The steps that are not done, by how they ended, in the order in which they are told; what one address says twice is told once. */
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

/** What was run, and is to be run again where something is left. */
export type Command = "apply" | "destroy";

/** The last line of every apply and destroy; scripts read it. */
export function lastLine({ added, changed, destroyed, exitCode }: Outcome, command: Command): string {
  const ending = exitCode === 0 ? "complete!" : "incomplete.";
  return command === "destroy"
    ? `Destroy ${ending} Resources: ${destroyed} destroyed.`
    : `Apply ${ending} Resources: ${added} added, ${changed} changed, ${destroyed} destroyed.`;
}
