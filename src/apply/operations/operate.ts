/** @module Carries out one lifecycle operation, or waits for one that an earlier run has begun. */
import { fieldRows } from "../../model/field-schema.ts";
import type { Step } from "../../model/plan.ts";
import type { Spec } from "../../model/spec.ts";
import { type ApplyContext, driverOf, type StepResult } from "../context.ts";
import { waitForOperation } from "../engine/wait-for-operation.ts";
import { changeObject, notAtRest, refOf, untilAtRest } from "./change.ts";

/** Asks for a lifecycle operation and waits for its end; nothing is sent if the resource is in that phase already. */
export async function operate(step: Step, context: ApplyContext): Promise<StepResult> {
  const verb = step.verb ?? "";
  return changeObject(
    step,
    {
      operation: verb,
      record: reachedBy(verb, step, context),
      send: (ref) => {
        const applied = context.journal.state.resources[step.address]?.recorded;
        return driverOf(context, step.kind).operate(ref, verb, context.aborting, step.choices, applied);
      },
    },
    context,
  );
}

/** The values that an operation gives to managed fields, so that its work is not taken for drift. */
function reachedBy(verb: string, step: Step, context: ApplyContext): Spec {
  const recorded = context.journal.state.resources[step.address]?.recorded ?? {};
  const reached = [...fieldRows(context.kinds.named(step.kind).schema)].flatMap(
    ([path, row]): [string, string][] => {
      const transition = Object.entries(row["x-operations"] ?? {}).find(([, leads]) => leads === verb)?.[0];
      const isManaged = recorded[path] !== undefined || step.spec?.[path] !== undefined;
      return transition === undefined || !isManaged
        ? []
        : [[path, transition.slice(transition.indexOf(">") + 1)]];
    },
  );
  return Object.fromEntries(reached);
}

/** Waits for the operation that the state knows of, or until the resource is at rest. */
export async function wait(step: Step, context: ApplyContext): Promise<StepResult> {
  const ref = refOf(step, context);
  const converging = context.journal.state.resources[step.address]?.converging;
  if (converging !== undefined) {
    const baseline = converging.operation === "create" ? undefined : "first-look";
    return waitForOperation(step, ref, converging.operation, baseline, context);
  }
  const rest = await untilAtRest(step, ref, context);
  if (rest.is !== "arrived" || rest.live === undefined) return notAtRest(ref, rest);
  context.outputs.set(step.address, rest.live.outputs);
  return { result: "done", id: ref.id };
}
