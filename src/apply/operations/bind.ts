/** @module Operations that change the state alone: bind, forget, move. */
import { defined } from "../../model/json.ts";
import type { Step } from "../../model/plan.ts";
import type { Bound } from "../../model/state.ts";
import { recordOf } from "../bind.ts";
import type { ApplyContext, StepResult } from "../context.ts";
import { isThereAgain } from "../creates/still-missing.ts";
import { timestamp } from "./existing.ts";

/**
 * Binds an existing object to its address, or updates what the state remembers of a bound one. A bound
 * object is wanted: an unfinished deletion is no longer waited for. An object that another address was bound to leaves that one.
 */
export async function bind(step: Step, context: ApplyContext): Promise<StepResult> {
  const known = context.journal.state.resources[step.address];
  const converging = known?.converging;
  const bound: Bound = {
    kind: step.kind,
    id: step.id ?? known?.id ?? "",
    place: step.place,
    recorded: { ...(known?.recorded ?? recordOf(step.spec ?? {}, context)), ...step.record },
    protect: step.protect ?? known?.protect ?? true,
    onDelete: step.onDelete ?? known?.onDelete ?? "delete",
    refs: step.refs ?? known?.refs ?? [],
    createdAt: known?.createdAt ?? timestamp(context),
    ...(known?.shownCreatedAt === undefined ? {} : { shownCreatedAt: known.shownCreatedAt }),
    ...appliedAt(known, context),
    ...(known?.seenRight === undefined ? {} : { seenRight: known.seenRight }),
    ...(known?.unmoved === undefined ? {} : { unmoved: known.unmoved }),
    ...(converging === undefined || converging.operation === "delete" ? {} : { converging }),
  };
  const former = context.journal.boundTo(bound.kind, bound).find((address) => address !== step.address);
  // An object has one address: the manifest gives it another one by its id.
  if (former !== undefined) await context.journal.record({ type: "moved", from: former, to: step.address });
  await context.journal.bind(step.address, bound);
  return { result: "done", id: bound.id };
}

/** Binding an object says that it is as declared; a bound one keeps the time that it has. */
function appliedAt(known: Bound | undefined, context: ApplyContext): Pick<Bound, "appliedAt"> {
  if (known === undefined) return { appliedAt: timestamp(context) };
  return known.appliedAt === undefined ? {} : { appliedAt: known.appliedAt };
}

/** Removes an object from the state and leaves it as it is. One that its plan took for gone is looked at once more: `stale` if it is there. */
export async function forget(step: Step, context: ApplyContext): Promise<StepResult> {
  if (step.gone === true && (await isThereAgain(step, context)))
    return {
      result: "stale",
      message: `${step.id} is there: this plan took it for gone`,
      hint: "make a new plan",
    };
  await context.journal.record({ type: "released", address: step.address });
  return { result: "done", ...defined({ id: step.id }) };
}

/** Gives a bound object its new address. */
export async function move(step: Step, context: ApplyContext): Promise<StepResult> {
  if (step.from !== undefined)
    await context.journal.record({ type: "moved", from: step.from, to: step.address });
  return { result: "done", ...defined({ id: step.id }) };
}
