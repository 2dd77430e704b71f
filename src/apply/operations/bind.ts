/** @module Operations that change the state alone: bind, forget, move. */
import { defined } from "../../model/json.ts";
import type { Step } from "../../model/plan.ts";
import type { Bound } from "../../model/state.ts";
import { type ApplyContext, type StepResult, stale, timestamp } from "../context.ts";
import { isThereAgain } from "../creates/still-missing.ts";
import { recordOf } from "./change.ts";

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
