/** @module Deletes a resource and waits until it is gone. */
import { gracePeriod } from "../../model/consistency.ts";
import { isServiceError, ServiceError } from "../../model/errors.ts";
import { fieldRows } from "../../model/field-rows.ts";
import type { Live, Phase, Ref } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import { poll } from "../../polling/poll.ts";
import { type ApplyContext, driverOf, type StepResult } from "../context.ts";
import { changeWrite } from "../engine/change-write.ts";
import { submit } from "../engine/submit.ts";
import { timeoutOf, waitForOperation } from "../engine/wait-for-operation.ts";
import { isStale, staleResult } from "../evidence/precondition.ts";
import { classifyUnconfirmedDeletion } from "../evidence/unconfirmed-write.ts";
import { timestamp } from "./existing.ts";

/**
 * Deletes, and waits until the object is gone. A deletion that an earlier run asked for has passed its guards once: it is
 * waited for and not asked for again. The binding is released only once the object is gone.
 */
export async function remove(step: Step, context: ApplyContext): Promise<StepResult> {
  const ref: Ref = { id: step.id ?? "", place: step.place };
  let acceptedAt: number | undefined;
  const isUnderWay = context.journal.state.resources[step.address]?.converging?.operation === "delete";
  const now = isUnderWay ? await look(step, ref, context) : await onceShown(step, ref, context);
  if (!isUnderWay && now !== undefined && isStale(step, now, context)) return staleResult(step, ref, now);
  if (isUnderWay && now?.phase.is === "waiting-for-person") {
    if (!(await finished(ref, step, context))) return waitsForPerson(ref, now.phase);
  } else if (!isUnderWay) {
    const waiting = await submitted(step, ref, context);
    if (waiting !== undefined) return waiting;
    acceptedAt = context.clock.now();
    const converging = { operation: "delete", since: timestamp(context), record: {} };
    await context.journal.record({ type: "operation-accepted", address: step.address, converging });
  }
  const end = await waitForOperation(step, ref, "delete", isUnderWay ? "first-look" : now, context);
  if (end.result !== "done") return end;
  const took = acceptedAt === undefined ? {} : { took: Math.round(context.clock.now() - acceptedAt) };
  await context.journal.record({ type: "released", address: step.address, ...took });
  context.outputs.delete(step.address);
  return end;
}

/** Asks for the deletion. Returns a result only where the service takes none: a person has to act first, or a field keeps the object. */
async function submitted(step: Step, ref: Ref, context: ApplyContext): Promise<StepResult | undefined> {
  const { clock, profile } = context;
  try {
    await submit(
      changeWrite(
        {
          what: `delete of ${ref.id}`,
          send: () => sendDelete(ref, step, context),
          look: () => look(step, ref, context),
          evaluate: (live, attempts) =>
            classifyUnconfirmedDeletion(
              live,
              hiddenUntil(step, context) > 0,
              attempts,
              clock.now(),
              profile.timing,
            ),
          timeout: timeoutOf(step, "delete", context),
        },
        context,
      ),
      context,
    );
    return undefined;
  } catch (error) {
    if (!isServiceError(error, "conflict")) throw error;
    const phase = (await look(step, ref, context))?.phase;
    if (phase?.is === "waiting-for-person") return waitsForPerson(ref, phase);
    const rows = fieldRows(context.kinds.named(step.kind).schema);
    const keeper = [...rows].find(([, row]) => row["x-keeps"] === true)?.[0];
    if (keeper === undefined) throw error;
    const hint = `if it is kept by ${keeper}: declare ${keeper}: false, apply that, then delete it`;
    return { result: "failed", id: ref.id, message: error.message, hint };
  }
}

function look(step: Step, ref: Ref, context: ApplyContext): Promise<Live | undefined> {
  return driverOf(context, step.kind).get(ref, context.stopping);
}

function waitsForPerson(ref: Ref, { detail }: Phase): StepResult {
  return { result: "waiting-for-person", id: ref.id, message: `${ref.id} waits for a person: ${detail}` };
}

/** The end of the object's creation grace period, in ms since 1970; 0 where it is over. */
function hiddenUntil({ address }: Step, { clock, profile, journal }: ApplyContext): number {
  const createdAt = Date.parse(journal.state.resources[address]?.createdAt ?? "");
  const verdict = gracePeriod(createdAt, clock.now(), profile.timing);
  return verdict === "over" ? 0 : verdict.recheckAt;
}

/** Polls an object in its creation grace period until it is shown: a deletion that answers "not found" would delete nothing. */
async function onceShown(step: Step, ref: Ref, context: ApplyContext): Promise<Live | undefined> {
  const deadline = hiddenUntil(step, context);
  if (deadline === 0) return look(step, ref, context);
  const evaluate = (live: Live | undefined): Live | undefined => live;
  const polled = await poll({ look: () => look(step, ref, context), evaluate, deadline }, context);
  return polled.is === "decided" ? polled.verdict : look(step, ref, context);
}

/** Sends the same deletion again once the person has acted; false while the service does not take it. */
async function finished(ref: Ref, step: Step, context: ApplyContext): Promise<boolean> {
  const { value } = await submit(
    changeWrite<Live | undefined, boolean>(
      {
        what: `delete of ${ref.id}`,
        send: () => takenDelete(ref, step, context),
        look: () => look(step, ref, context),
        evaluate: () => ({ is: "repeat" }),
        timeout: timeoutOf(step, "delete", context),
      },
      context,
    ),
    context,
  );
  return value;
}

/** Sends a deletion; false where the service does not take it yet, true also where nothing is left to delete. */
async function takenDelete(ref: Ref, step: Step, context: ApplyContext): Promise<boolean> {
  try {
    await driverOf(context, step.kind).delete(ref, context.aborting);
    return true;
  } catch (error) {
    if (isServiceError(error, "not-found")) return true;
    if (isServiceError(error, "conflict") || isServiceError(error, "busy")) return false;
    throw error;
  }
}

/** Sends a deletion. "Not found" counts as deleted, except during the creation grace period: the object may be hidden then. */
async function sendDelete(ref: Ref, step: Step, context: ApplyContext): Promise<void> {
  try {
    await driverOf(context, step.kind).delete(ref, context.aborting);
  } catch (error) {
    if (!isServiceError(error, "not-found")) throw error;
    if (hiddenUntil(step, context) === 0) return;
    throw new ServiceError("lost", "delete", error.message, { mayHaveWorked: true, cause: error });
  }
}
