/** @module Backs a resource up and waits until the backup is seen complete. */
import type { Step } from "../../model/plan.ts";
import { type ApplyContext, driverOf, type StepResult } from "../context.ts";
import { requestBackup } from "../engine/request-backup.ts";
import { timeoutOf } from "../engine/wait-for-operation.ts";
import { isStale, staleResult } from "../evidence/operation.ts";
import { isAbsent, notAtRest, refOf, untilAtRest } from "./change.ts";

/** Asks for a backup and waits until it is listed as complete. One that is not complete in time is still converging. */
export async function backup(step: Step, context: ApplyContext): Promise<StepResult> {
  const ref = refOf(step, context);
  const rest = await untilAtRest(step, ref, context);
  if (isAbsent(rest))
    return { result: "done", id: ref.id, message: `${ref.id} is gone: there is nothing to back up` };
  if (rest.is !== "arrived" || rest.live === undefined) return notAtRest(ref, rest);
  if (isStale(step, rest.live, context)) return staleResult(step, ref, rest.live);
  const driver = driverOf(context, step.kind);
  const ended = await requestBackup(
    {
      what: `backup of ${ref.id}`,
      send: async () => driver.backup?.(ref, context.aborting),
      list: async () => (await driver.backups?.(ref, context.stopping)) ?? [],
      showsTimes: driver.showsBackupTimes === true,
      date: () => context.dateOf(step.kind),
      timeout: timeoutOf(step, "backup", context),
    },
    context,
  );
  if (step.unattended === true) return { result: "done", id: ref.id };
  const { is, item } = await ended();
  if (is === "completed") return { result: "done", id: ref.id, message: `backup ${item.id} is complete` };
  if (is === "failed")
    return {
      result: "failed",
      id: ref.id,
      message: `the backup ${item.id} of ${ref.id} failed: ${item.detail}`,
      hint: "nothing was deleted; run again to try another backup",
    };
  const status = item === undefined ? "is not listed" : `${item.id} is ${item.detail}`;
  return {
    result: "converging",
    id: ref.id,
    message: `the backup of ${ref.id} ${status} after the time that was allowed`,
    hint: "nothing was deleted; run again: a new backup is asked for first",
  };
}
