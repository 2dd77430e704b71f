/** @module Deletes a resource, waits until it is gone, and looks for it once more at the end. */
import { isServiceError, ServiceError, type ServiceFailure, shellWord } from "../../model/errors.ts";
import { fieldRows } from "../../model/field-schema.ts";
import type { Live, Ref } from "../../model/observed.ts";
import type { Outcome, StepOutcome } from "../../model/outcome.ts";
import type { Step } from "../../model/plan.ts";
import type { Service } from "../../model/service.ts";
import { poll } from "../../polling/poll.ts";
import { type ApplyContext, driverOf, type StepResult, timestamp, waitsForPerson } from "../context.ts";
import { submitChange } from "../engine/submit.ts";
import { timeoutOf, waitForOperation } from "../engine/wait-for-operation.ts";
import { type Sighting, untilShownOrAbsent, type Watched, watch } from "../engine/watch-missing.ts";
import {
  type Attempts,
  classifyUnconfirmedDeletion,
  type Evidence,
  isStale,
  staleResult,
} from "../evidence/operation.ts";

/** Deletes, and releases the binding once the object is gone. A deletion of an earlier run is waited for and not asked for again. */
export async function remove(step: Step, context: ApplyContext): Promise<StepResult> {
  const bound = context.journal.state.resources[step.address];
  const ref: Ref = { id: step.id ?? "", place: step.place };
  const { kind, address } = step;
  const object: Watched = { kind, address, ref, mayBeHiddenSince: Date.parse(bound?.createdAt ?? "") };
  let acceptedAt: number | undefined;
  const isUnderWay = bound?.converging?.operation === "delete";
  const now = isUnderWay ? await look(object, context) : await untilShownOrAbsent(object, context);
  if (!isUnderWay && now !== undefined && isStale(step, now, context)) return staleResult(step, ref, now);
  if (isUnderWay && now?.phase.is === "waiting-for-person") {
    // The same deletion, sent again once the person has acted; the service refuses it before.
    if (!(await submitDelete(object, step, context, ["conflict", "busy"])))
      return waitsForPerson(ref, now.phase.detail);
  } else if (!isUnderWay && now !== undefined) {
    const waiting = await submitted(object, step, context);
    if (waiting !== undefined) return waiting;
    acceptedAt = context.clock.now();
    const converging = { operation: "delete", since: timestamp(context), record: {} };
    await context.journal.record({ type: "operation-accepted", address, converging });
  }
  const isGone = !isUnderWay && now === undefined;
  const end: StepResult = isGone
    ? { result: "done", id: ref.id, message: `${ref.id} was not there any more`, unsent: true }
    : await waitForOperation(step, ref, "delete", isUnderWay ? "first-look" : now, context);
  if (end.result !== "done") return end;
  const took = acceptedAt === undefined ? {} : { took: Math.round(context.clock.now() - acceptedAt) };
  await context.journal.record({ type: "released", address, ...took });
  context.outputs.delete(address);
  return end;
}

/** Asks for the deletion. Returns a result only where the service takes none: a person has to act first, or a field keeps the object. */
async function submitted(
  object: Watched,
  step: Step,
  context: ApplyContext,
): Promise<StepResult | undefined> {
  const { ref } = object;
  try {
    await submitDelete(object, step, context);
    return undefined;
  } catch (error) {
    if (!isServiceError(error, "conflict")) throw error;
    const phase = (await look(object, context))?.phase;
    if (phase?.is === "waiting-for-person") return waitsForPerson(ref, phase.detail);
    const rows = fieldRows(context.kinds.named(step.kind).schema);
    const keeper = [...rows].find(([, row]) => row["x-keeps"] === true)?.[0];
    if (keeper === undefined) throw error;
    const hint = `if it is kept by ${keeper}: declare ${keeper}: false, apply that, then delete it`;
    return { result: "failed", id: ref.id, message: error.message, hint };
  }
}

/** Sends the deletion until it is taken, or absence is proved: "not found" and a lost answer prove nothing. False for one of `refusals`. */
async function submitDelete(
  object: Watched,
  step: Step,
  context: ApplyContext,
  refusals: readonly ServiceFailure[] = [],
): Promise<boolean> {
  const { clock, profile, aborting } = context;
  const send = async (): Promise<boolean> => {
    try {
      await driverOf(context, object.kind).delete(object.ref, aborting);
      return true;
    } catch (error) {
      if (!isServiceError(error)) throw error;
      if (refusals.includes(error.failure)) return false;
      if (error.failure !== "not-found") throw error;
      throw new ServiceError("lost", "delete", error.message, { mayHaveWorked: true, cause: error });
    }
  };
  const change = {
    what: `delete of ${object.ref.id}`,
    send,
    look: watch(object, context),
    evaluate: (seen: Sighting, attempts: Attempts): Evidence<boolean> => {
      const evidence = classifyUnconfirmedDeletion(seen, attempts, clock.now(), profile.timing);
      return evidence.is === "accepted" ? { is: "accepted", value: true } : evidence;
    },
    timeout: timeoutOf(step, "delete", context),
  };
  return (await submitChange(change, context)).value;
}

function look({ kind, ref }: Watched, context: ApplyContext): Promise<Live | undefined> {
  return driverOf(context, kind).get(ref, context.stopping);
}

/** Says which deleted objects are shown again: `listed` has them, and describe shows them within `settle`. A list alone may be late. */
export async function shownAgain(
  steps: readonly StepOutcome[],
  listed: readonly (Ref & Pick<StepOutcome, "kind">)[],
  {
    kinds,
    service,
    clock,
    stopping,
  }: Pick<ApplyContext, "kinds" | "clock" | "stopping"> & { readonly service: Service },
): Promise<Outcome["certificate"]> {
  const { profile } = service;
  const deadline = clock.now() + profile.timing.settle;
  const deleted = steps.filter(({ operation, result }) => operation === "delete" && result === "done");
  const found = await Promise.all(
    deleted.map(async ({ address, kind, id }) => {
      const ref = listed.find((other) => other.kind === kind && other.id === id);
      if (ref === undefined) return [];
      const reader = kinds.named(kind).reader(service);
      const read = (): Promise<Live | undefined> => reader.get(ref, stopping);
      const evaluate = (seen: Live | undefined): Live | undefined => seen;
      const live =
        (await read()) ?? (await poll({ look: read, evaluate, deadline }, { clock, profile, stopping }));
      if (live === undefined || live.phase.is === "gone" || live.phase.isLeaving === true) return [];
      const way = `delete it there, or declare it at an address that is bound to nothing, and bind it: graphform import ADDRESS ${shellWord(ref.id)}`;
      const reason = `${ref.id} was deleted and released, and the service shows it again; ${way}`;
      return [{ address, kind, reason }];
    }),
  );
  return found.flat();
}
