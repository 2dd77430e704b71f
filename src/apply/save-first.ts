import { isServiceError } from "../model/errors.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import type { ApplyContext, StepResult } from "./context.ts";
import { driverOf, kindOf } from "./context.ts";
import { persist } from "./persist.ts";
import { settle } from "./settle.ts";
import { onceShown } from "./young.ts";

/** What holds no data needs no snapshot first. */
export function isToBeSaved(step: Step, context: ApplyContext): boolean {
  const rule = step.onDelete ?? context.journal.state.resources[step.address]?.onDelete;
  return rule === "backup" && kindOf(context, step.kind).holdsData;
}

/**
 * A snapshot of what is there, without which nothing is deleted. "gone" where nothing is there any more, also where that
 * shows only when it is asked for.
 */
export async function saved(
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
