import { isServiceError, ServiceError } from "../model/errors.ts";
import type { Live, Phase, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import type { ApplyContext, StepResult } from "./context.ts";
import { driverOf } from "./context.ts";
import { persist, type Sent, type Verdict } from "./persist.ts";
import { isStale, stale } from "./precondition.ts";
import { isToBeSaved, saved } from "./save-first.ts";
import { settle } from "./settle.ts";
import { mayHideFor, onceShown } from "./young.ts";

/**
 * Deletes, and waits until it is gone. What is being deleted already is not asked for again; what is gone already
 * answers so. The binding is released only once the object is gone.
 */
export async function remove(step: Step, context: ApplyContext): Promise<StepResult> {
  const ref: Ref = { id: step.id ?? "", place: step.place };
  const driver = driverOf(context, step.kind);
  const look = (): Promise<Live | undefined> => driver.get(ref, context.stopping);
  const underWay = context.journal.state.resources[step.address]?.converging?.operation === "delete";
  const now = underWay ? await look() : await onceShown(step, look, context);
  if (!underWay && now !== undefined && isStale(step, now, context)) return stale(step, ref, now);
  if (underWay && now?.phase.is === "waiting-for-person") {
    if (!(await finished(ref, step, context))) return held(ref, now.phase);
  } else if (!underWay) {
    const snapshot = isToBeSaved(step, context) ? await saved(step, ref, now, context) : undefined;
    if (snapshot === "gone") return released(step, { result: "done", id: ref.id }, context);
    if (snapshot !== undefined && snapshot.result !== "done") return snapshot;
    const waiting = await asked(step, ref, look, context);
    if (waiting !== undefined) return waiting;
    const since = new Date(context.clock.now()).toISOString();
    await context.journal.accepted(step.address, { operation: "delete", since, record: {} });
  }
  // What an earlier run asked for has passed its guards once: it is waited for, and never asked for again here.
  const end = await settle(step, ref, "delete", underWay ? "first-look" : now, context);
  return end.result === "done" ? released(step, end, context) : end;
}

/**
 * Asks for the deletion until the service has taken it. The result where it takes none, since a person has to do his part
 * first: a run that was killed may have asked for it already.
 */
async function asked(
  step: Step,
  ref: Ref,
  look: () => Promise<Live | undefined>,
  context: ApplyContext,
): Promise<StepResult | undefined> {
  const timeout = step.timeout ?? context.profile.timing.timeout["delete"] ?? 40 * 60_000;
  try {
    await persist(
      () => deleted(ref, step, context),
      (live, sent) => afterLoss(live, sent, step, context),
      look,
      timeout,
      context,
    );
    return undefined;
  } catch (error) {
    const phase = isServiceError(error, "conflict") ? (await look())?.phase : undefined;
    if (phase?.is !== "waiting-for-person") throw error;
    return held(ref, phase);
  }
}

function held(ref: Ref, { detail }: Phase): StepResult {
  return { result: "waiting-for-person", id: ref.id, message: `${ref.id} waits for a person: ${detail}` };
}

/** It is gone, and the state knows it no more. */
async function released(step: Step, end: StepResult, context: ApplyContext): Promise<StepResult> {
  await context.journal.release(step.address);
  context.outputs.delete(step.address);
  return end;
}

/**
 * What is gone, or on its way, after an answer that was lost is not deleted twice; what is at rest still was not. What is
 * not shown may be hidden as long as it is young.
 */
function afterLoss(
  live: Live | undefined,
  { mayHaveWorked, ago }: Sent,
  step: Step,
  context: ApplyContext,
): Verdict {
  if (!mayHaveWorked) return "again";
  if (live === undefined) return mayHideFor(step, context) > 0 ? "wait" : "accepted";
  if (live.phase.is === "gone") return "accepted";
  return live.phase.is === "pending" || ago < context.profile.timing.settle ? "wait" : "again";
}

/** A deletion in two phases: once the person has done his part, the same request finishes it. False: not yet. */
async function finished(ref: Ref, step: Step, context: ApplyContext): Promise<boolean> {
  try {
    await driverOf(context, step.kind).delete(ref, context.aborting);
    return true;
  } catch (error) {
    if (isServiceError(error, "not-found")) return true;
    if (isServiceError(error, "conflict") || isServiceError(error, "busy")) return false;
    throw error;
  }
}

/** Asks for the deletion. "Not found" is what was to be reached, save where it may only be hidden: then nobody knows. */
async function deleted(ref: Ref, step: Step, context: ApplyContext): Promise<void> {
  try {
    await driverOf(context, step.kind).delete(ref, context.aborting);
  } catch (error) {
    if (!isServiceError(error, "not-found")) throw error;
    if (mayHideFor(step, context) === 0) return;
    throw new ServiceError("lost", "delete", error.message, { mayHaveWorked: true, cause: error });
  }
}
