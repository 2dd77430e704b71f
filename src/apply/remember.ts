import type { Step } from "../model/plan.ts";
import type { Bound } from "../model/state.ts";
import { recordOf } from "./bind.ts";
import type { ApplyContext, StepResult } from "./context.ts";

/** Binds an existing object to its address, or brings the remembered guards of a bound one up to date. */
export async function bind(step: Step, context: ApplyContext): Promise<StepResult> {
  const known = context.journal.state.resources[step.address];
  const bound: Bound = {
    kind: step.kind,
    id: step.id ?? known?.id ?? "",
    place: step.place,
    recorded: known?.recorded ?? recordOf(step.spec ?? {}, context),
    protect: step.protect ?? known?.protect ?? true,
    onDelete: step.onDelete ?? known?.onDelete ?? "delete",
    refs: step.refs ?? known?.refs ?? [],
    createdAt: known?.createdAt ?? new Date(context.clock.now()).toISOString(),
    ...(known?.converging === undefined ? {} : { converging: known.converging }),
  };
  await context.journal.bind(step.address, bound);
  return { result: "done", id: bound.id };
}

/** Lets go of an object and leaves it as it is. */
export async function forget(step: Step, context: ApplyContext): Promise<StepResult> {
  await context.journal.release(step.address);
  return { result: "done", ...(step.id === undefined ? {} : { id: step.id }) };
}

/** Gives a bound object its new address. */
export async function move(step: Step, context: ApplyContext): Promise<StepResult> {
  if (step.from !== undefined) await context.journal.move(step.from, step.address);
  return { result: "done", ...(step.id === undefined ? {} : { id: step.id }) };
}
