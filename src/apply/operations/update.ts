/** @module Updates a resource in place. */
import { isServiceError } from "../../model/errors.ts";
import type { Step } from "../../model/plan.ts";
import { bindSpec, recordOf } from "../bind.ts";
import { type ApplyContext, driverOf, type StepResult } from "../context.ts";
import { change } from "./change.ts";
import { timestamp } from "./existing.ts";

/** Sends the changed fields alone, and waits until they are applied. */
export async function update(step: Step, context: ApplyContext): Promise<StepResult> {
  const patch = step.patch ?? {};
  const record = recordOf(patch, context);
  return change(
    step,
    {
      operation: "update",
      record,
      send: async (ref) => {
        const body = bindSpec(step.kind, patch, context);
        await announced(step, Object.keys(record), context, () =>
          driverOf(context, step.kind).update(ref, body, context.aborting),
        );
      },
    },
    context,
  );
}

/**
 * Sends an update that is announced in the state: a run that is killed must not leave values behind as known that may have
 * changed. An update that surely did nothing leaves the state as it was.
 */
async function announced(
  { address }: Step,
  paths: readonly string[],
  context: ApplyContext,
  send: () => Promise<void>,
): Promise<void> {
  const { journal } = context;
  const bound = journal.state.resources[address];
  await journal.record({ type: "update-announced", address, paths, at: timestamp(context) });
  try {
    await send();
  } catch (error) {
    const didNothing = isServiceError(error) && !error.mayHaveWorked;
    if (didNothing && bound !== undefined) await journal.record({ type: "bound", address, bound });
    throw error;
  }
}
