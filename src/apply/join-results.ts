/** @module Joins the results of all steps, and the differences that are left, into the outcome of a run. */
import type { Address } from "../model/address.ts";
import { type ExitCode, worseExit } from "../model/errors.ts";
import type { Outcome, StepOutcome } from "../model/outcome.ts";

const exits: { readonly [result in StepOutcome["result"]]: ExitCode } = {
  done: 0,
  failed: 1,
  blocked: 4,
  skipped: 0,
  converging: 7,
  "waiting-for-person": 8,
  stale: 6,
  interrupted: 130,
};

export function outcomeOf(
  steps: readonly StepOutcome[],
  certificate: Outcome["certificate"],
  outputs: Outcome["outputs"],
  warnings: readonly string[],
): Outcome {
  const addresses = (wanted: (step: StepOutcome) => boolean): ReadonlySet<Address> =>
    new Set(
      steps
        .filter((step) => step.result === "done" && step.unsent !== true && wanted(step))
        .map((step) => step.address),
    );
  const added = addresses((step) => step.operation === "create");
  const destroyed = addresses((step) => step.operation === "delete");
  const changed = addresses((step) => ["update", "heal", "operate", "migrate"].includes(step.operation));
  return {
    steps,
    added: added.size,
    changed: [...changed].filter((address) => !added.has(address) && !destroyed.has(address)).length,
    destroyed: destroyed.size,
    outputs,
    certificate,
    warnings,
    exitCode: worseExit([
      ...steps.map((step) => exits[step.result]),
      ...(certificate.length > 0 ? [1 as const] : []),
    ]),
  };
}
