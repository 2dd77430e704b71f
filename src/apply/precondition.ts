import { withNames } from "../model/names.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import { preconditionText } from "../model/precondition.ts";
import type { ApplyContext, StepResult } from "./context.ts";
import { kindOf } from "./context.ts";

/**
 * True where the values that the step's decision used are no longer what they were. A step that comes after another one
 * upon the same object knows better: that one has changed them.
 */
export function isStale(step: Step, live: Live, context: ApplyContext): boolean {
  if (step.after.some((key) => changesAddress(key, step.address))) return false;
  const named = withNames(live, kindOf(context, step.kind).schema, context.outputsBefore);
  return context.digest(preconditionText(named, step.checks)) !== step.precondition;
}

/** Moves and bindings of an address change the state alone. */
function changesAddress(key: string, address: string): boolean {
  const quiet = [`${address}#move`, `${address}#bind`];
  return (key === address || key.startsWith(`${address}#`)) && !quiet.includes(key);
}

/** The refusal of a step whose precondition no longer holds. */
export function stale(step: Step, ref: Ref): StepResult {
  return {
    result: "stale",
    id: ref.id,
    message: `${ref.id} is no longer as it was when the plan was made${step.checks.length > 0 ? `: ${step.checks.join(", ")}` : ""}`,
    hint: "make a new plan",
  };
}
