/** @module Creates a resource, once, and waits until it can be used. */
import { withoutTwin } from "../../model/address.ts";
import { isGraphformError, shellWord } from "../../model/errors.ts";
import { stableJson } from "../../model/json.ts";
import type { Step } from "../../model/plan.ts";
import { fieldsOf } from "../../model/spec.ts";
import type { Intent } from "../../model/state.ts";
import { type ApplyContext, driverOf, type StepResult, stale } from "../context.ts";
import type { Created } from "../creates/create-request.ts";
import { sendCreate } from "../creates/send-create.ts";
import { waitForOperation } from "../engine/wait-for-operation.ts";
import { recordOf, requestSpec, update } from "./change.ts";

/** Creates the resource of a step and waits for it. An update brings an object that may be another create's to the step's spec. */
export async function create(step: Step, context: ApplyContext): Promise<StepResult> {
  const spec = step.spec ?? {};
  const kind = context.kinds.named(step.kind);
  const body = requestSpec(step.kind, spec, context);
  const placed = { ...step, place: kind.place(body) };
  const intent = intentOf(placed, context);
  const owner = { lineage: context.journal.state.lineage, address: withoutTwin(step.address) };
  const resumed = await resumeCreate(placed, intent, context);
  if (resumed !== undefined) return resumed;
  const request = {
    step: placed,
    classKey: `${step.kind} ${kind.classKey(spec)}`,
    intent,
    send: async () => driverOf(context, step.kind).create(body, context.aborting, owner),
  };
  const created = await sendCreate(request, context);
  const { id, unsure } = created;
  const end = await waitForCreated(placed, created, context);
  if (unsure.length === 0 || end.result !== "done") return end;
  // No observation of the object is older than its create, so the update has no precondition but the create step.
  const after = [...step.after, step.key];
  const patch = Object.fromEntries(fieldsOf(spec).filter(([path]) => unsure.includes(path)));
  return update({ ...placed, id, after, patch }, context);
}

/** Goes on with an object that an earlier run has created for the same spec; undefined if nothing is bound. */
async function resumeCreate(
  step: Step,
  { digest }: Pick<Intent, "digest">,
  context: ApplyContext,
): Promise<StepResult | undefined> {
  const bound = context.journal.state.resources[step.address];
  if (context.stateAtStart.intents[step.address] !== undefined)
    return {
      result: "stale",
      message: `an earlier create of ${step.address} is not resolved: its object is not known`,
      hint: `run apply again once the service shows its parent; if it made nothing: graphform state rm ${shellWord(step.address)}`,
    };
  if (bound === undefined || bound.id === step.id) return undefined;
  if (bound.converging?.digest === digest)
    return waitForOperation(step, { id: bound.id, place: bound.place }, "create", undefined, context);
  const message = `${step.address} is bound to ${bound.id} already, which was not made for this plan`;
  return stale(message, bound.id);
}

async function waitForCreated(step: Step, created: Created, context: ApplyContext): Promise<StepResult> {
  const { id, intent, round } = created;
  try {
    return await waitForOperation(step, { id, place: step.place }, "create", undefined, context);
  } catch (error) {
    if (!isGraphformError(error) || error.code !== "never-there") throw error;
    // The answer named an object that is not shown: the intent is opened again, and the next run looks for that one first.
    const reopened = { ...intent, acknowledged: id };
    const event = { type: "create-announced", intent: reopened, listed: round, released: true } as const;
    await context.journal.record({ ...event, address: step.address });
    throw error;
  }
}

/** The intent of a step: the values that the state will record, and those that find the object if the answer is lost. */
function intentOf(step: Step, context: ApplyContext): Omit<Intent, "round" | "startedAt" | "sentAfter"> {
  const recorded = { ...step.record, ...recordOf(step.spec ?? {}, context) };
  const isMarked = context.kinds.named(step.kind).marksOwner(context.profile);
  return {
    digest: context.digest(stableJson(recorded)),
    ...(isMarked ? { marked: true } : {}),
    recorded,
    protect: step.protect ?? true,
    onDelete: step.onDelete ?? "delete",
    refs: step.refs ?? [],
  };
}
