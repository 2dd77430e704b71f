import type { Outcome, StepOutcome } from "../model/outcome.ts";

/** How many steps ended in each way that is not "done", in the order in which they are told. */
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

const said: { readonly [result in StepOutcome["result"]]: string } = {
  done: "done",
  failed: "failed",
  stale: "stale",
  interrupted: "interrupted",
  "waiting-for-person": "waiting for a person",
  converging: "still converging",
  blocked: "blocked",
  skipped: "not started",
};

/** The last line of every apply; scripts read it. */
export function applyLine(outcome: Outcome): string {
  const { added, changed, destroyed } = outcome;
  const counts = `Resources: ${added} added, ${changed} changed, ${destroyed} destroyed.`;
  if (outcome.exitCode === 0) return `Apply complete! ${counts}`;
  const rest = unfinished(outcome.steps).map(([result, steps]) => `${steps.length} ${said[result]}`);
  return `Apply incomplete. ${rest.length === 0 ? "" : `${capital(rest.join(", "))}. `}${counts}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
