import { withNames } from "../model/names.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import { preconditionText } from "../model/precondition.ts";
import type { ApplyContext, StepResult } from "./context.ts";
import { kindOf } from "./context.ts";

/** True where the values that the step's decision used are no longer what they were. A step in a chain knows better. */
export function isStale(step: Step, live: Live, context: ApplyContext): boolean {
  const chained = step.after.some((key) => key.split("#")[0] === step.address);
  if (chained) return false;
  const named = withNames(live, kindOf(context, step.kind).schema, context.outputs);
  return context.digest(preconditionText(named, step.checks)) !== step.precondition;
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
