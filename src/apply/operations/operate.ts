/** @module All operations but create, update and delete: lifecycle operations, waits, backups, repairs, and those that change the state alone. */
import { GraphformError } from "../../model/errors.ts";
import { fieldRows } from "../../model/field-schema.ts";
import { defined } from "../../model/json.ts";
import type { Live } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import type { Spec } from "../../model/spec.ts";
import type { Bound } from "../../model/state.ts";
import { requestTo } from "../../polling/ask-objects.ts";
import { type ApplyContext, driverOf, type StepResult, stale, timestamp } from "../context.ts";
import { isThereAgain } from "../creates/still-missing.ts";
import { requestBackup } from "../engine/request-backup.ts";
import { submitChange } from "../engine/submit.ts";
import { timeoutOf, waitForOperation } from "../engine/wait-for-operation.ts";
import { type Attempts, type Evidence, isStale, shownOf, staleResult } from "../evidence/operation.ts";
import { probedBaseline, surroundingsOf, withProbedPaths } from "../probe-object.ts";
import { changeObject, isAbsent, notAtRest, recordOf, refOf, untilAtRest, withoutSending } from "./change.ts";

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
      hint: "nothing was deleted, and it runs; run again to try another backup",
    };
  const status = item === undefined ? "is not listed" : `${item.id} is ${item.detail}`;
  return {
    result: "converging",
    id: ref.id,
    message: `the backup of ${ref.id} ${status} after the time that was allowed`,
    hint: "nothing was deleted; run again: a new backup is asked for first",
  };
}

/** Sets fields back and reads them again. The state remembers only when they were seen right: an interrupted repair is planned again. */
export async function heal(step: Step, context: ApplyContext): Promise<StepResult> {
  const ref = refOf(step, context);
  const rest = await untilAtRest(step, ref, context);
  if (rest.is !== "arrived" || rest.live === undefined) return notAtRest(ref, rest);
  const { live } = rest;
  const wanted = step.patch ?? {};
  const look = (): Promise<Live> => withProbedPaths(step, live, context);
  const isHealed = (seen: Live): boolean => shownOf(wanted, step, seen, context) === "all";
  // A stopped database lost its runtime values and will start from the configuration.
  if (live.phase.is !== "ready") return staleResult(step, ref, live);
  const baseline = await probedBaseline(step, live, context);
  const done = async (): Promise<StepResult> => {
    const [paths, at] = [Object.keys(wanted), timestamp(context)];
    await context.journal.record({ type: "healed", address: step.address, paths, at });
    return { result: "done", id: ref.id };
  };
  if (isHealed(baseline)) return withoutSending(await done());
  if (isStale(step, baseline, context)) return staleResult(step, ref, baseline);
  const request = requestTo(step, live, surroundingsOf(context));
  if ("is" in request) return staleResult(step, ref, baseline);
  const setting = { ...request, spec: { ...request.spec, ...wanted } };
  const change = {
    what: `repair of ${ref.id}`,
    send: async () => driverOf(context, step.kind).heal?.(setting, Object.keys(wanted), context.aborting),
    look,
    // The repair may be sent again: only the value that is read back counts.
    evaluate: (seen: Live, { mayHaveWorked }: Attempts): Evidence => {
      if (isHealed(seen)) return { is: "accepted", value: undefined };
      const isSilent = Object.keys(wanted).some((path) => seen.spec[path] === undefined);
      return { is: isSilent && mayHaveWorked ? "unproven" : "repeat" };
    },
    timeout: context.profile.timing.endpoint,
  };
  await submitChange(change, context);
  if (isHealed(await look())) return done();
  const message = `${ref.id} still shows other values: ${Object.keys(wanted).join(", ")}`;
  const hint = "look at who changes them; the next plan sets them back again";
  throw new GraphformError("not-healed", message, { hint });
}

/**
 * Binds an existing object to its address, or updates what the state remembers of a bound one. An unfinished deletion is no longer waited
 * for. The object leaves another address. Without an id, the step writes its protection into the intent of an open create.
 */
export async function bind(step: Step, context: ApplyContext): Promise<StepResult> {
  if (step.id === undefined) return guardIntent(step, context);
  const known = context.journal.state.resources[step.address];
  const now = timestamp(context);
  const { converging, ...rest }: Partial<Bound> = known ?? { appliedAt: now };
  const bound: Bound = {
    createdAt: now,
    ...rest,
    kind: step.kind,
    id: step.id,
    place: step.place,
    recorded: { ...(known?.recorded ?? recordOf(step.spec ?? {}, context)), ...step.record },
    protect: step.protect ?? known?.protect ?? true,
    onDelete: step.onDelete ?? known?.onDelete ?? "delete",
    refs: step.refs ?? known?.refs ?? [],
    ...(converging === undefined || converging.operation === "delete" ? {} : { converging }),
  };
  const former = context.journal.boundTo(bound.kind, bound).find((address) => address !== step.address);
  // An object has one address: the manifest gives it another one by its id.
  if (former !== undefined) await context.journal.record({ type: "moved", from: former, to: step.address });
  await context.journal.bind(step.address, bound);
  return { result: "done", id: bound.id };
}

/** Adds the guards of a step to the intent of its address. If that was resolved since, the next plan compares its object. */
async function guardIntent({ address, protect }: Step, { journal }: ApplyContext): Promise<StepResult> {
  const intent = journal.state.intents[address];
  if (intent !== undefined && protect !== undefined)
    await journal.record({ type: "create-announced", address, intent: { ...intent, protect } });
  return { result: "done", message: "its protection holds for what its open create has made" };
}

/** Removes an object from the state and leaves it as it is. One that its plan took for gone is looked at once more: `stale` if it is there. */
export async function forget(step: Step, context: ApplyContext): Promise<StepResult> {
  if (step.gone === true && (await isThereAgain(step, context)))
    return stale(`${step.id} is there: this plan took it for gone`);
  await context.journal.record({ type: "released", address: step.address });
  return { result: "done", ...defined({ id: step.id }) };
}

export async function move(step: Step, context: ApplyContext): Promise<StepResult> {
  if (step.from !== undefined)
    await context.journal.record({ type: "moved", from: step.from, to: step.address });
  return { result: "done", ...defined({ id: step.id }) };
}
