/** @module Changes an existing object in four parts: look, check, send, wait. Other operations on existing objects share them. */
import { GraphformError, isServiceError } from "../../model/errors.ts";
import { type Json, type JsonObject, mapped } from "../../model/json.ts";
import type { Live, Ref } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import { isReference, isSealed, isTemplate } from "../../model/sealed.ts";
import { fieldsOf, type Spec } from "../../model/spec.ts";
import { referencedIn, referent, resolveKnown } from "../../model/templates.ts";
import {
  type ApplyContext,
  driverOf,
  type StepResult,
  stale,
  staleError,
  timestamp,
  waitsForPerson,
} from "../context.ts";
import { submitChange } from "../engine/submit.ts";
import {
  type Converged,
  converge,
  phasesAfter,
  timeoutOf,
  waitForOperation,
} from "../engine/wait-for-operation.ts";
import {
  type Attempts,
  classifyUnconfirmedChange,
  type Evidence,
  isStale,
  shownOf,
  staleResult,
} from "../evidence/operation.ts";
import { probedBaseline, withProbedPaths } from "../probe-object.ts";

export interface ChangeRequest {
  /** The operation that the state waits for: `update`, or the name of a lifecycle operation. */
  readonly operation: string;
  /** Values that count as applied once it has finished. */
  readonly record: Spec;
  readonly send: (ref: Ref) => Promise<void>;
}

/** Waits until the object is at rest, refuses a stale step, sends the change unless it is shown already, and waits until it has arrived. */
export async function changeObject(
  step: Step,
  { operation, record, send }: ChangeRequest,
  context: ApplyContext,
): Promise<StepResult> {
  const { clock, journal, profile } = context;
  const ref = refOf(step, context);
  const rest = await untilAtRest(step, ref, context);
  if (rest.is !== "arrived" || rest.live === undefined) return notAtRest(ref, rest);
  const baseline = await probedBaseline(step, rest.live, context);
  if (hasArrived(operation, baseline))
    return withoutSending(await waitForOperation(step, ref, operation, undefined, context));
  const shownAtBaseline = baseline.phase.is === "failed" ? "none" : shownOf(record, step, baseline, context);
  const isStaleNow = isStale(step, baseline, context);
  const accept = (): Promise<void> =>
    journal.record({
      type: "operation-accepted",
      address: step.address,
      converging: { operation, since: timestamp(context), record },
    });
  if (shownAtBaseline === "all" && (operation === "update" || isStaleNow)) {
    await accept();
    return withoutSending(await waitForOperation(step, ref, operation, undefined, context));
  }
  if (shownAtBaseline === "none" && isStaleNow) return staleResult(step, ref, baseline);
  const evaluate = (live: Live | undefined, attempts: Attempts): Evidence => {
    const shows = live === undefined ? "none" : shownOf(record, step, live, context);
    const isHidden = Object.keys(record).every((path) => live?.spec[path] === undefined);
    const look = { live, baseline, shows, shownAtBaseline, isPower: isPowerOperation(operation), isHidden };
    const evidence = classifyUnconfirmedChange(
      { ...look, hasArrived: hasArrived(operation, live) },
      attempts,
      clock.now(),
      profile.timing,
    );
    const isUndone = evidence.is !== "accepted" && evidence.is !== "in-progress" && shows === "none";
    if (isUndone && live !== undefined && isStale(step, live, context))
      throw staleError(staleResult(step, ref, live).message ?? "");
    return evidence;
  };
  const { seen, isFirst } = await submitChange(
    {
      what: `${operation} of ${ref.id}`,
      send: () => send(ref),
      look: async () => {
        const live = await driverOf(context, step.kind).get(ref, context.stopping);
        return live === undefined ? undefined : withProbedPaths(step, live, context);
      },
      evaluate,
      timeout: timeoutOf(step, operation, context),
    },
    context,
  );
  await accept();
  if (step.unattended === true) return { result: "done", id: ref.id };
  if (isFirst) return waitForOperation(step, ref, operation, seen ?? baseline, context);
  // A movement seen now may come from an earlier request whose answer was lost.
  return waitForOperation(step, ref, operation, "first-look", context, phasesAfter(operation, baseline));
}

/** True if the resource is in the phase already that a start or stop leads to. */
function hasArrived(operation: string, live: Live | undefined): boolean {
  if (!isPowerOperation(operation) || live === undefined) return false;
  return phasesAfter(operation, undefined).includes(live.phase.is);
}

/** True for operations whose end is a status. */
function isPowerOperation(operation: string): boolean {
  return operation === "start" || operation === "stop";
}

/** Sends the changed fields alone, and waits until they are applied. */
export async function update(step: Step, context: ApplyContext): Promise<StepResult> {
  const patch = step.patch ?? {};
  const record = recordOf(patch, context);
  return changeObject(
    step,
    {
      operation: "update",
      record,
      send: async (ref) => {
        const body = requestSpec(step.kind, patch, context);
        await announced(step, Object.keys(record), context, () =>
          driverOf(context, step.kind).update(ref, body, context.aborting),
        );
      },
    },
    context,
  );
}

/** Announces an update before it is sent: after a kill its values are unknown. One that surely did nothing leaves the state as it was. */
async function announced(
  { address }: Step,
  paths: readonly string[],
  context: ApplyContext,
  send: () => Promise<void>,
): Promise<void> {
  const { journal } = context;
  const bound = journal.state.resources[address];
  await journal.record({ type: "update-announced", address, paths, at: timestamp(context) });
  try {
    await send();
  } catch (error) {
    const didNothing = isServiceError(error) && !error.mayHaveWorked;
    if (didNothing && bound !== undefined) await journal.record({ type: "bound", address, bound });
    throw error;
  }
}

/** The object of a step. An operation that follows a create has no id in the plan: the state knows it by now. */
export function refOf(step: Step, { journal }: Pick<ApplyContext, "journal">): Ref {
  const bound = journal.state.resources[step.address];
  return { id: step.id ?? bound?.id ?? "", place: bound?.place ?? step.place };
}

/** Waits until an object is at rest. `first-look`: until it has moved, or `settle` has shown that its status is not that from before. */
export async function untilAtRest(
  step: Step,
  ref: Ref,
  context: ApplyContext,
  baseline?: "first-look",
): Promise<Converged> {
  const now = context.clock.now();
  const createdAt = Date.parse(context.journal.state.resources[step.address]?.createdAt ?? "");
  return converge(
    {
      kind: step.kind,
      ref,
      phases: ["ready", "stopped", "failed"],
      baseline,
      acceptedAt: now,
      mayBeHiddenSince: Number.isNaN(createdAt) ? now : createdAt,
      timeout: timeoutOf(step, "update", context),
    },
    step,
    context,
  );
}

/** True if the object is gone. */
export function isAbsent(rest: Converged): boolean {
  return rest.is === "never-there" || (rest.is === "failed" && rest.live.phase.is === "gone");
}

/** The result of a step whose object did not come to rest. */
export function notAtRest(ref: Ref, rest: Converged): StepResult {
  if (rest.is === "timeout") {
    return {
      result: "converging",
      id: ref.id,
      message: `${ref.id} is busy with something else: it is still ${rest.detail}`,
      hint: "run apply again",
    };
  }
  if (rest.is === "interrupted") return { result: "interrupted", id: ref.id };
  if (rest.is === "waiting-for-person") return waitsForPerson(ref, rest.detail);
  return stale(`${ref.id} is gone`, ref.id);
}

/** The same result, for a step that was done before anything was sent. */
export function withoutSending(result: StepResult): StepResult {
  return result.result === "done" ? { ...result, unsent: true } : result;
}

/** The values of an applied spec as the state records them: outputs filled in, names kept, secrets sealed. */
export function recordOf(spec: Spec, context: ApplyContext): Spec {
  const outputsOf = (address: string): JsonObject | undefined => context.outputs.get(address);
  return Object.fromEntries(fieldsOf(spec).map(([path, value]) => [path, resolveKnown(value, outputsOf)]));
}

/** A spec as one request needs it, secrets opened: it goes nowhere else. Throws `output-missing` or `secret-missing`. */
export function requestSpec(kind: string, spec: Spec, context: ApplyContext): Spec {
  const { schema } = context.kinds.named(kind);
  const references = new Map(referencedIn(schema, spec).map((field) => [field.path, field]));
  return mapped(Object.fromEntries(fieldsOf(spec)), (value, path) => {
    const field = references.get(path);
    return field === undefined ? openValue(value, context) : outputOf(field.address, field.output, context);
  });
}

function openValue(value: Json, context: ApplyContext): Json {
  if (isSealed(value)) {
    const text = context.open(value);
    if (text !== undefined) return text;
    const hint = "give the same secrets as when the plan was made, or make a new plan";
    const message = "a secret of this plan is unavailable, or has changed";
    throw new GraphformError("secret-missing", message, { hint, exitCode: 6 });
  }
  if (isReference(value)) {
    const { address, output } = referent(value.$ref);
    return outputOf(address, output, context);
  }
  if (isTemplate(value)) {
    const parts = value.$template.map((part) => openValue(part, context));
    return parts.length === 1 ? (parts[0] ?? null) : parts.map((part) => String(part)).join("");
  }
  if (Array.isArray(value)) return value.map((item: Json) => openValue(item, context));
  return value;
}

function outputOf(address: string, output: string, context: ApplyContext): Json {
  const value = context.outputs.get(address)?.[output];
  if (value !== undefined && value !== null) return value;
  throw new GraphformError("output-missing", `${address} has no output "${output}" yet`, {
    hint: "it may still be converging: run apply again once it is ready",
  });
}
