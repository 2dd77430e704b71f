/** @module Backs a resource up and waits until the backup is seen complete. */
import { gracePeriod } from "../../model/consistency.ts";
import type { Backup } from "../../model/kind.ts";
import type { Ref } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import { poll } from "../../polling/poll.ts";
import { type ApplyContext, driverOf, type StepResult } from "../context.ts";
import { changeWrite } from "../engine/change-write.ts";
import { submit } from "../engine/submit.ts";
import { timeoutOf } from "../engine/wait-for-operation.ts";
import { backupOutcome, newBackups } from "../evidence/backups.ts";
import { isStale, staleResult } from "../evidence/precondition.ts";
import type { Attempts, Evidence } from "../evidence/unconfirmed-write.ts";
import { notAtRest, refOf, untilAtRest } from "./existing.ts";

/**
 * Asks for a backup and waits until one that was made since the step began is listed as complete. A step that needs it, a deletion, is
 * not begun before. One that fails is a failure; one that is not complete in time is still converging.
 */
export async function backup(step: Step, context: ApplyContext): Promise<StepResult> {
  const ref = refOf(step, context);
  const rest = await untilAtRest(step, ref, context);
  if (rest.is === "never-there" || (rest.is === "failed" && rest.live.phase.is === "gone"))
    return { result: "done", id: ref.id, message: `${ref.id} is gone: there is nothing to back up` };
  if (rest.is !== "arrived" || rest.live === undefined) return notAtRest(ref, rest);
  if (isStale(step, rest.live, context)) return staleResult(step, ref, rest.live);
  const driver = driverOf(context, step.kind);
  const look = async (): Promise<readonly Backup[]> => (await driver.backups?.(ref, context.stopping)) ?? [];
  await untilShown(context);
  const known = await look();
  const deadline = context.clock.now() + timeoutOf(step, "backup", context);
  await submit(
    changeWrite(
      {
        what: `backup of ${ref.id}`,
        send: async () => driver.backup?.(ref, context.aborting),
        look,
        evaluate: (listed, attempts) => requested(listed, known, attempts, context),
        timeout: timeoutOf(step, "backup", context),
      },
      context,
    ),
    context,
  );
  if (step.unattended === true) return { result: "done", id: ref.id };
  return completed(ref, known, look, deadline, context);
}

/** Classifies a backup request without an answer: a new backup is listed, or none can be hidden any more. */
function requested(
  listed: readonly Backup[],
  known: readonly Backup[],
  { mayHaveWorked, endedAt }: Attempts,
  { clock, profile }: ApplyContext,
): Evidence<void> {
  if (!mayHaveWorked) return { is: "repeat" };
  if (newBackups(listed, known).length > 0) return { is: "accepted", value: undefined };
  const isHidden = gracePeriod(endedAt, clock.now(), profile.timing) !== "over";
  return { is: isHidden ? "wait" : "repeat" };
}

/** Waits until lists show every backup that was made before this moment, so that a new one was made after it. */
async function untilShown({ clock, profile, stopping }: ApplyContext): Promise<void> {
  const now = clock.now();
  const verdict = gracePeriod(now, now, profile.timing);
  if (verdict !== "over") await clock.sleep(verdict.recheckAt - now, stopping);
}

async function completed(
  ref: Ref,
  known: readonly Backup[],
  look: () => Promise<readonly Backup[]>,
  deadline: number,
  context: ApplyContext,
): Promise<StepResult> {
  const endedAt = context.clock.now();
  let last: Backup | undefined;
  let recheckAt = 0;
  const evaluate = (listed: readonly Backup[]): StepResult | undefined => {
    const verdict = gracePeriod(endedAt, context.clock.now(), context.profile.timing);
    recheckAt = verdict === "over" ? 0 : verdict.recheckAt;
    if (verdict !== "over") return undefined;
    const { is, backup: made } = backupOutcome(listed, known);
    last = made;
    if (is === "pending" || made === undefined) return undefined;
    if (is === "completed") return { result: "done", id: ref.id, message: `backup ${made.id} is complete` };
    return {
      result: "failed",
      id: ref.id,
      message: `the backup ${made.id} of ${ref.id} failed: ${made.detail}`,
      hint: "nothing was deleted for it; run again to try another backup",
    };
  };
  const polled = await poll({ look, evaluate, deadline, notBefore: () => recheckAt }, context);
  if (polled.is === "decided") return polled.verdict;
  const status = last === undefined ? "is not listed" : `${last.id} is ${last.detail}`;
  return {
    result: "converging",
    id: ref.id,
    message: `the backup of ${ref.id} ${status} after the time that was allowed`,
    hint: "nothing was deleted for it; run again: a new backup is asked for first",
  };
}
