/** @module Changes an existing object in four parts: look, check, send, wait. */

import { isServiceError } from "../../model/errors.ts";
import type { Live, Ref } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import type { Spec } from "../../model/spec.ts";
import { type ApplyContext, driverOf, type StepResult, staleError } from "../context.ts";
import { submitChange } from "../engine/submit.ts";
import { phasesAfter, timeoutOf, waitForOperation } from "../engine/wait-for-operation.ts";
import { isStale, shownOf, staleResult } from "../evidence/check-precondition.ts";
import { type Attempts, classifyUnconfirmedChange, type Evidence } from "../evidence/unconfirmed-write.ts";
import { probedBaseline, withProbedPaths } from "../probe-object.ts";
import { recordOf, requestSpec } from "../request-spec.ts";
import { notAtRest, refOf, timestamp, untilAtRest, withoutSending } from "./existing.ts";

export interface ChangeRequest {
  /** The operation that the state waits for: `update`, or the name of a lifecycle operation. */
  readonly operation: string;
  /** Values that count as applied once it has finished. */
  readonly record: Spec;
  readonly send: (ref: Ref) => Promise<void>;
}

/** Waits until the object is at rest, refuses a stale step, sends the change unless it is shown already, and waits until it has arrived. */
export async function change(
  step: Step,
  { operation, record, send }: ChangeRequest,
  context: ApplyContext,
): Promise<StepResult> {
  const { clock, journal, profile } = context;
  const ref = refOf(step, context);
  const rest = await untilAtRest(step, ref, context);
  if (rest.is !== "arrived" || rest.live === undefined) return notAtRest(ref, rest);
  const baseline = await probedBaseline(step, rest.live, context);
  if (hasArrived(operation, baseline))
    return withoutSending(await waitForOperation(step, ref, operation, undefined, context));
  const shownAtBaseline = baseline.phase.is === "failed" ? "no" : shownOf(record, step, baseline, context);
  const isStaleNow = isStale(step, baseline, context);
  const accept = (): Promise<void> =>
    journal.record({
      type: "operation-accepted",
      address: step.address,
      converging: { operation, since: timestamp(context), record },
    });
  if (shownAtBaseline === "all" && (operation === "update" || isStaleNow)) {
    await accept();
    return withoutSending(await waitForOperation(step, ref, operation, undefined, context));
  }
  if (shownAtBaseline === "no" && isStaleNow) return staleResult(step, ref, baseline);
  const evaluate = (live: Live | undefined, attempts: Attempts): Evidence => {
    const shows = live === undefined ? "no" : shownOf(record, step, live, context);
    const isHidden = Object.keys(record).every((path) => live?.spec[path] === undefined);
    const look = { live, baseline, shows, shownAtBaseline, isPower: isPowerOperation(operation), isHidden };
    const evidence = classifyUnconfirmedChange(
      { ...look, hasArrived: hasArrived(operation, live) },
      attempts,
      clock.now(),
      profile.timing,
    );
    const isUndone = evidence.is !== "accepted" && evidence.is !== "in-progress" && shows === "no";
    if (isUndone && live !== undefined && isStale(step, live, context))
      throw staleError(staleResult(step, ref, live).message ?? "");
    return evidence;
  };
  const { seen, isFirst } = await submitChange(
    {
      what: `${operation} of ${ref.id}`,
      send: () => send(ref),
      look: async () => {
        const live = await driverOf(context, step.kind).get(ref, context.stopping);
        return live === undefined ? undefined : withProbedPaths(step, live, context);
      },
      evaluate,
      timeout: timeoutOf(step, operation, context),
    },
    context,
  );
  await accept();
  if (step.unattended === true) return { result: "done", id: ref.id };
  if (isFirst) return waitForOperation(step, ref, operation, seen ?? baseline, context);
  // A movement seen now may come from an earlier request whose answer was lost.
  return waitForOperation(step, ref, operation, "first-look", context, phasesAfter(operation, baseline));
}

/** True if the resource is in the phase already that a start or stop leads to. */
function hasArrived(operation: string, live: Live | undefined): boolean {
  if (!isPowerOperation(operation) || live === undefined) return false;
  return phasesAfter(operation, undefined).includes(live.phase.is);
}

/** True for operations whose end is a status. */
function isPowerOperation(operation: string): boolean {
  return operation === "start" || operation === "stop";
}

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
        const body = requestSpec(step.kind, patch, context);
        await announced(step, Object.keys(record), context, () =>
          driverOf(context, step.kind).update(ref, body, context.aborting),
        );
      },
    },
    context,
  );
}

/** Announces an update before it is sent: after a kill its values are unknown. One that surely did nothing leaves the state as it was. */
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
