import { isServiceError, ServiceError } from "../model/errors.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import type { ApplyContext, StepResult } from "./context.ts";
import { driverOf, kindOf } from "./context.ts";
import { persist, type Sent, type Verdict } from "./persist.ts";
import { isStale, stale } from "./precondition.ts";
import { settle } from "./settle.ts";

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
    if (!(await finished(ref, step, context)))
      return { result: "waiting-for-person", id: ref.id, message: now.phase.detail };
  } else if (!underWay) {
    // Without a snapshot nothing is deleted: what cannot be seen is not asked for either.
    const snapshot = isToBeSaved(step, context) ? await saved(step, ref, now, context) : undefined;
    if (snapshot === "gone") return released(step, { result: "done", id: ref.id }, context);
    if (snapshot !== undefined && snapshot.result !== "done") return snapshot;
    const timeout = step.timeout ?? context.profile.timing.timeout["delete"] ?? 40 * 60_000;
    await persist(
      () => deleted(ref, step, context),
      (live, sent) => afterLoss(live, sent, step, context),
      look,
      timeout,
      context,
    );
    const since = new Date(context.clock.now()).toISOString();
    await context.journal.accepted(step.address, { operation: "delete", since, record: {} });
  }
  // What an earlier run asked for has passed its guards once: it is waited for, and never asked for again here.
  const end = await settle(step, ref, "delete", underWay ? "first-look" : now, context);
  return end.result === "done" ? released(step, end, context) : end;
}

/** It is gone, and the state knows it no more. */
async function released(step: Step, end: StepResult, context: ApplyContext): Promise<StepResult> {
  await context.journal.release(step.address);
  context.outputs.delete(step.address);
  return end;
}

/** What holds no data needs no snapshot first. */
function isToBeSaved(step: Step, context: ApplyContext): boolean {
  const rule = step.onDelete ?? context.journal.state.resources[step.address]?.onDelete;
  return rule === "backup" && kindOf(context, step.kind).holdsData;
}

/**
 * How it looks before it is deleted. What is so young that it may not be shown yet is waited for: a deletion that
 * answers "not found" would have deleted nothing.
 */
async function onceShown(
  step: Step,
  look: () => Promise<Live | undefined>,
  context: ApplyContext,
): Promise<Live | undefined> {
  const { clock, profile, stopping } = context;
  let pause = profile.timing.poll.first;
  for (;;) {
    const live = await look();
    const left = mayHideFor(step, context);
    if (live !== undefined || left === 0) return live;
    await clock.sleep(Math.min(left, pause), stopping);
    pause = Math.min(profile.timing.poll.longest, pause * 2);
  }
}

/** How long it is still so young that it may not be shown, in ms. */
function mayHideFor({ address }: Step, { clock, profile, journal }: ApplyContext): number {
  const born = Date.parse(journal.state.resources[address]?.createdAt ?? "");
  return Number.isNaN(born) ? 0 : Math.max(0, born + profile.timing.listLag - clock.now());
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

/** A snapshot of what is there; also where it shows only when it is asked for that nothing is there any more. */
async function saved(
  step: Step,
  ref: Ref,
  now: Live | undefined,
  context: ApplyContext,
): Promise<StepResult | "gone"> {
  if (now === undefined) return "gone";
  try {
    return await backup(step, ref, context);
  } catch (error) {
    const look = (): Promise<Live | undefined> => driverOf(context, step.kind).get(ref, context.stopping);
    if (isServiceError(error, "not-found") && (await onceShown(step, look, context)) === undefined)
      return "gone";
    throw error;
  }
}

/** `onDelete: backup` takes a snapshot first, once what is under way has ended. */
async function backup(step: Step, ref: Ref, context: ApplyContext): Promise<StepResult> {
  const driver = driverOf(context, step.kind);
  const look = (): Promise<Live | undefined> => driver.get(ref, context.stopping);
  const before = await look();
  const last = await persist(
    () => driver.operate(ref, "backup", context.aborting),
    (live, { mayHaveWorked }) => (mayHaveWorked && live?.phase.is === "pending" ? "accepted" : "again"),
    look,
    step.timeout ?? context.profile.timing.timeout["backup"] ?? 40 * 60_000,
    context,
  );
  const since = new Date(context.clock.now()).toISOString();
  await context.journal.accepted(step.address, { operation: "backup", since, record: {} });
  return settle(step, ref, "backup", last ?? before, context);
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
