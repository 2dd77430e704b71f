/** @module Goes on waiting for an operation that an earlier run began. */
import type { Step } from "../../model/plan.ts";
import type { ApplyContext, StepResult } from "../context.ts";
import { waitForOperation } from "../engine/wait-for-operation.ts";
import { notAtRest, refOf, untilAtRest } from "./existing.ts";

/** Waits for the operation that the state knows of, or until the resource is at rest. */
export async function wait(step: Step, context: ApplyContext): Promise<StepResult> {
  const ref = refOf(step, context);
  const converging = context.journal.state.resources[step.address]?.converging;
  if (converging !== undefined) {
    const baseline = converging.operation === "create" ? undefined : "first-look";
    return waitForOperation(step, ref, converging.operation, baseline, context);
  }
  const rest = await untilAtRest(step, ref, context);
  return rest.is === "arrived" && rest.live !== undefined
    ? { result: "done", id: ref.id }
    : notAtRest(ref, rest);
}
