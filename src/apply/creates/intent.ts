/** @module Makes the intent that a create is announced with, and the events that resolve it. */
import type { Address } from "../../model/address.ts";
import { stableJson } from "../../model/json.ts";
import type { Step } from "../../model/plan.ts";
import type { Intent } from "../../model/state.ts";
import type { CreatedObject, StateEvent } from "../../model/state-event.ts";
import { recordOf } from "../bind.ts";
import type { ApplyContext } from "../context.ts";
import type { Found } from "./find-created.ts";

/** The intent of a step: what the state will remember of its object, and what finds that object if the answer is lost. */
export function intentOf(step: Step, context: ApplyContext): Omit<Intent, "round" | "startedAt"> {
  const recorded = { ...step.record, ...recordOf(step.spec ?? {}, context) };
  const isMarked = context.kinds.named(step.kind).marksOwner?.(context.profile) === true;
  return {
    digest: context.digest(stableJson(recorded)),
    ...(isMarked ? { marked: true } : {}),
    recorded,
    protect: step.protect ?? true,
    onDelete: step.onDelete ?? "delete",
    refs: step.refs ?? [],
  };
}

/** The object of an announced create as the state binds it. */
export function createdObject(
  address: Address,
  id: string,
  { digest }: Pick<Intent, "digest">,
  now: number,
): CreatedObject {
  const createdAt = new Date(now).toISOString();
  return {
    address,
    id,
    createdAt,
    converging: { operation: "create", since: createdAt, record: {}, digest },
  };
}

/** The event that says what became of lost creates. An object that may be another create's is unconfirmed. */
export function resolution(
  { found, absent }: Found,
  intents: ReadonlyMap<Address, Intent>,
  now: number,
): StateEvent {
  const objects = found.flatMap(({ address, live, unsure }): CreatedObject[] => {
    const intent = intents.get(address);
    if (intent === undefined) return [];
    const unconfirmed = unsure.length === 0 ? {} : { unconfirmed: unsure };
    return [{ ...createdObject(address, live.id, intent, now), ...unconfirmed }];
  });
  return { type: "creates-resolved", found: objects, absent };
}
