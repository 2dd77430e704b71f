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

/** The last line of every apply; scripts read it. */
export function applyLine({ added, changed, destroyed, exitCode }: Outcome): string {
  const counts = `Resources: ${added} added, ${changed} changed, ${destroyed} destroyed.`;
  return exitCode === 0 ? `Apply complete! ${counts}` : `Apply incomplete. ${counts}`;
}
