/** @module Decides what looks prove of an operation: if its plan still holds, if a write without an answer has worked, and if it has arrived. Pure. */
import { type Baseline, type Delays, isCurrent, isSettleOver } from "../../model/consistency.ts";
import type { ServiceFailure } from "../../model/errors.ts";
import { fieldRows, rowAt } from "../../model/field-schema.ts";
import { naming } from "../../model/manifest.ts";
import type { Live, PhaseName, Ref } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import type { Spec } from "../../model/spec.ts";
import { preconditionOf, sameJson, sameValue, specOf } from "../../model/values.ts";
import type { ApplyContext, StepResult } from "../context.ts";
import { stale } from "../context.ts";

export type PreconditionContext = Pick<
  ApplyContext,
  "kinds" | "profile" | "outputsAtStart" | "outputs" | "stateAtStart" | "digest"
>;

/**
 * True if the values that the step's decision used have changed, or if the object was stopped and only a running one can be updated. A
 * step after another change of the same object is never stale: that change moved the values.
 */
export function isStale(step: Step, live: Live, context: PreconditionContext): boolean {
  if (step.after.some((key) => changesObject(key, step.address))) return false;
  const { schema } = context.kinds.named(step.kind);
  const rows = fieldRows(schema);
  const isMetadata = Object.keys(step.patch ?? {}).every((path) => rowAt(rows, path)["x-in"] === "metadata");
  const needsReady = step.operation === "update" && !isMetadata && context.profile.updateNeeds === "ready";
  if (needsReady && live.phase.is === "stopped") return true;
  const named = naming(context.outputsAtStart)(live, schema);
  return preconditionOf(named, step, { ...context, state: context.stateAtStart }) !== step.precondition;
}

/** Decides which of the values that a step is to set are shown already. */
export function shownOf(record: Spec, step: Step, live: Live, context: PreconditionContext): Shown {
  const shown = comparedWith(record, step, live, context);
  if (shown.length === 0 || shown.includes(false)) return "none";
  return shown.length === Object.keys(record).length ? "all" : "all-visible";
}

/** True if a look shows another value of a field that a step was to set. */
export function showsOther(record: Spec, step: Step, live: Live, context: PreconditionContext): boolean {
  return comparedWith(record, step, live, context).includes(false);
}

/** Compares each value that a step is to set, and that a look shows. */
function comparedWith(
  record: Spec,
  step: Step,
  live: Live,
  context: PreconditionContext,
): readonly boolean[] {
  const { schema } = context.kinds.named(step.kind);
  const rows = fieldRows(schema);
  const named = naming(context.outputs)(live, schema);
  return Object.entries(record).flatMap(([path, value]) => {
    const seen = named.spec[path];
    return seen === undefined ? [] : [sameValue(value, seen.value, rowAt(rows, path))];
  });
}

export function staleResult(step: Step, ref: Ref, { phase }: Pick<Live, "phase">): StepResult {
  const checks = step.checks.length > 0 ? `: ${step.checks.join(", ")}` : "";
  const now = phase.is === "stopped" ? "; it is stopped" : "";
  return stale(`${ref.id} is no longer as it was when the plan was made${checks}${now}`, ref.id);
}

/** True for steps that change the object at the service: moves and bindings change the state, a backup changes nothing. */
function changesObject(key: string, address: string): boolean {
  const quiet = ["move", "bind", "backup"].map((name) => `${address}#${name}`);
  return (key === address || key.startsWith(`${address}#`)) && !quiet.includes(key);
}

export interface Attempts {
  /** True if any of them may have worked. */
  readonly mayHaveWorked: boolean;
  /** End of the last one, in ms since 1970. */
  readonly endedAt: number;
  /** Failure of the last one. */
  readonly failure: ServiceFailure;
}

/**
 * The evidence of one look. `accepted`: the write has worked. `repeat`: it did nothing and may be sent again.
 * `in-progress`: another operation runs, and it may be sent again. `unproven`: the look cannot show it. `wait`: too early.
 */
export type Evidence<Value = void> =
  | { readonly is: "accepted"; readonly value: Value }
  | { readonly is: "repeat" | "in-progress" | "unproven" | "wait" };

/**
 * The part of a write's values that a look shows. `all-visible`: each field that this look shows at all has its value. `none`: a field has
 * another value, or the look shows none of the fields.
 */
export type Shown = "all" | "all-visible" | "none";

export interface ChangeLook {
  readonly live: Live | undefined;
  /** The look before the first attempt. */
  readonly baseline: Live;
  readonly shows: Shown;
  /** The part that was shown before the first attempt. */
  readonly shownAtBaseline: Shown;
  /** True for operations whose end is a status: start and stop. */
  readonly isPower: boolean;
  /** The status is the one that the operation leads to. */
  readonly hasArrived: boolean;
  /** This look shows none of the changed fields. */
  readonly isHidden: boolean;
}

const accepted: Evidence = { is: "accepted", value: undefined };

/** Classifies an update or a lifecycle operation that is not confirmed. */
export function classifyUnconfirmedChange(
  look: ChangeLook,
  { mayHaveWorked, endedAt }: Attempts,
  now: number,
  delays: Delays,
): Evidence {
  const { live, baseline, shows, shownAtBaseline, isPower, hasArrived, isHidden } = look;
  const isInProgress = live?.phase.is === "pending";
  if (hasArrived || (mayHaveWorked && isInProgress)) return accepted;
  if (live === undefined) return { is: "repeat" };
  if (isInProgress) return { is: "in-progress" };
  if (!mayHaveWorked) return { is: "repeat" };
  const isNew = shows === "all" || (shows === "all-visible" && shownAtBaseline === "none");
  if (isNew && live.phase.is !== "failed") return accepted;
  // If a field or the status would show the effect, it was not done; otherwise the modification time decides.
  const isSilent = shows === "all-visible" || (isHidden && !isPower);
  if (isSilent && wasTouched(live, baseline)) return accepted;
  if (!isSettleOver(endedAt, now, delays)) return { is: "wait" };
  return { is: isSilent ? "unproven" : "repeat" };
}

/** Classifies a deletion that is not confirmed: a refused one did nothing, and any other one has worked once the object is proved absent. */
export function classifyUnconfirmedDeletion(
  seen: { readonly is: "shown"; readonly live: Live } | { readonly is: "absent" | "hidden" },
  { mayHaveWorked, endedAt }: Attempts,
  now: number,
  delays: Delays,
): Evidence {
  const phase = seen.is === "shown" ? seen.live.phase.is : undefined;
  if (!mayHaveWorked) return { is: phase === "pending" ? "in-progress" : "repeat" };
  if (seen.is === "absent" || phase === "gone") return accepted;
  if (seen.is === "hidden" || phase === "pending" || !isSettleOver(endedAt, now, delays))
    return { is: "wait" };
  return { is: "repeat" };
}

/** True if the modification time has moved and nothing else: a write has worked, and no field shows another writer. */
function wasTouched(live: Live, baseline: Live): boolean {
  const { modifiedAt } = live;
  if (modifiedAt === undefined || baseline.modifiedAt === undefined || modifiedAt === baseline.modifiedAt)
    return false;
  const isSamePhase = live.phase.is === baseline.phase.is || baseline.phase.is === "failed";
  return isSamePhase && sameJson(specOf(live), specOf(baseline));
}

/** The expectation that a wait ends with. Times are ms since 1970. */
export interface Expectation {
  /** Phases that end the waiting well. */
  readonly phases: readonly PhaseName[];
  /** The look before the operation was accepted; undefined for a new resource. `first-look`: that look is not known, the first one at rest takes its place. */
  readonly baseline: Baseline | "first-look";
  readonly acceptedAt: number;
  /** The object may be missing from a look for the creation grace period from here on: its creation, or a later moment. */
  readonly mayBeHiddenSince: number;
  /** True while a look shows other values than those that were sent. Default: it shows none. */
  readonly isLate?: (live: Live) => boolean;
}

export interface Sightings {
  /** The first look that found it at rest. */
  readonly firstAtRest: Live | undefined;
  readonly wasShown: boolean;
  /** A transient status was seen. */
  readonly wasInProgress: boolean;
}

export type Arrival =
  | { readonly is: "arrived"; readonly live: Live | undefined }
  | { readonly is: "failed" | "waiting-for-person"; readonly live: Live; readonly detail: string }
  /** The created object was never shown, and is proved absent. */
  | { readonly is: "never-there" };

/** The summary before the first look. An object with a baseline was shown by that baseline. */
export function noSightings({ baseline }: Expectation): Sightings {
  const wasShown = baseline !== undefined && baseline !== "first-look";
  return { firstAtRest: undefined, wasShown, wasInProgress: false };
}

export function withSighting(sightings: Sightings, live: Live | undefined): Sightings {
  if (live === undefined) return sightings;
  const isTransient = live.phase.is === "pending";
  return {
    firstAtRest: sightings.firstAtRest ?? (isTransient || live.phase.is === "gone" ? undefined : live),
    wasShown: true,
    wasInProgress: sightings.wasInProgress || isTransient,
  };
}

/** Decides whether and how the operation has ended; undefined while it has not. `sightings` include this look; absence is proved. */
export function evaluateArrival(
  expected: Expectation,
  live: Live | undefined,
  sightings: Sightings,
  now: number,
  delays: Delays,
): Arrival | undefined {
  if (live === undefined) return evaluateAbsence(expected, sightings);
  if (live.phase.is === "gone") return gone(expected, live);
  if (live.phase.is === "pending") return undefined;
  const { phases, acceptedAt } = expected;
  const baseline = expected.baseline === "first-look" ? sightings.firstAtRest : expected.baseline;
  // Right after the acceptance the service may still show the status from before.
  if (!sightings.wasInProgress && !isCurrent(baseline, live, acceptedAt, now, delays)) return undefined;
  const settled = isSettleOver(acceptedAt, now, delays);
  // Values may be shown later than the status: until then nothing proves that the service has not taken them.
  if (phases.includes(live.phase.is))
    return !settled && expected.isLate?.(live) === true ? undefined : { is: "arrived", live };
  if (live.phase.is === "waiting-for-person")
    return settled ? { is: "waiting-for-person", live, detail: live.phase.detail } : undefined;
  // A resource that had failed before can be deleted like any other; only a later failure belongs to the deletion.
  const isOldFailure = phases.includes("gone") && !sightings.wasInProgress && baseline?.phase.is === "failed";
  if (live.phase.is === "failed" && !isOldFailure) return { is: "failed", live, detail: live.phase.detail };
  // At rest in another phase: it was changed outside since, and waiting longer changes nothing.
  const hasBegun =
    sightings.wasInProgress || expected.baseline === undefined || expected.baseline === "first-look";
  const mayStay = phases.includes("gone") && expected.baseline !== "first-look";
  if (!hasBegun || mayStay || !settled) return undefined;
  return { is: "failed", live, detail: `it is ${live.phase.detail}, and graphform did not ask for that` };
}

/** True if one look without the object ends the wait: it was shown, and the service has taken its deletion. */
export function isGoneAtOnce({ phases }: Expectation, { wasShown }: Sightings): boolean {
  return phases.includes("gone") && wasShown;
}

function evaluateAbsence(expected: Expectation, { wasShown }: Sightings): Arrival {
  const isNew = expected.baseline === undefined && !expected.phases.includes("gone");
  if (isNew && !wasShown) return { is: "never-there" };
  return gone(expected, { id: "", phase: { is: "gone", detail: "" }, spec: {}, outputs: {} });
}

function gone({ phases }: Expectation, live: Live): Arrival {
  if (phases.includes("gone")) return { is: "arrived", live: undefined };
  return { is: "failed", live, detail: "it is gone: it was deleted while apply waited" };
}
