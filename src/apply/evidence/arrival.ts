/** @module Decides from what is shown whether an accepted operation has arrived. Pure. */
import { absence, type Baseline, type Delays, isCurrent, isSettled } from "../../model/consistency.ts";
import type { Live, PhaseName } from "../../model/observed.ts";

/** What is waited for. Times are ms since 1970. */
export interface Expectation {
  /** Phases that end the waiting well. */
  readonly phases: readonly PhaseName[];
  /**
   * How the resource looked when the service accepted the operation; undefined for a new one. `first-look`: an earlier
   * run sent it and nobody remembers, so the first look at rest stands for it.
   */
  readonly baseline: Baseline | "first-look";
  readonly acceptedAt: number;
  /** The last moment at which the object can have been made: until it is old enough it may be hidden. */
  readonly madeAt: number;
}

/** What the looks so far have shown. */
export interface Sightings {
  /** The first look that found it at rest. */
  readonly firstAtRest: Live | undefined;
  readonly wasShown: boolean;
  /** A transient status was seen. */
  readonly wasInProgress: boolean;
}

/** How an accepted operation ended. */
export type Arrival =
  | { readonly is: "arrived"; readonly live: Live | undefined }
  | { readonly is: "failed" | "waiting-for-person"; readonly live: Live; readonly detail: string }
  /** What was created was not shown once while it could be hidden. */
  | { readonly is: "never-there" };

/** Nothing was looked at yet. What was there before the operation was shown. */
export function noSightings({ baseline }: Expectation): Sightings {
  const wasShown = baseline !== undefined && baseline !== "first-look";
  return { firstAtRest: undefined, wasShown, wasInProgress: false };
}

/** Adds one look. */
export function withSighting(sightings: Sightings, live: Live | undefined): Sightings {
  if (live === undefined) return sightings;
  const isTransient = live.phase.is === "pending";
  return {
    firstAtRest: sightings.firstAtRest ?? (isTransient || live.phase.is === "gone" ? undefined : live),
    wasShown: true,
    wasInProgress: sightings.wasInProgress || isTransient,
  };
}

/** Says how the operation ended; undefined while it has not. `sightings` include this look. */
export function evaluateArrival(
  expected: Expectation,
  live: Live | undefined,
  sightings: Sightings,
  now: number,
  delays: Delays,
): Arrival | undefined {
  if (live === undefined) return evaluateAbsence(expected, sightings, now, delays);
  if (live.phase.is === "gone") return gone(expected, live);
  if (live.phase.is === "pending") return undefined;
  const { phases, acceptedAt } = expected;
  const baseline = expected.baseline === "first-look" ? sightings.firstAtRest : expected.baseline;
  if (!sightings.wasInProgress && !isCurrent(baseline, live, acceptedAt, now, delays)) return undefined;
  if (phases.includes(live.phase.is)) return { is: "arrived", live };
  const settled = isSettled(acceptedAt, now, delays);
  if (live.phase.is === "waiting-for-person")
    return settled ? { is: "waiting-for-person", live, detail: live.phase.detail } : undefined;
  // What had failed already is deleted like anything else; only a failure that comes after is the deletion's.
  const isOldFailure = phases.includes("gone") && !sightings.wasInProgress;
  if (live.phase.is === "failed" && !isOldFailure) return { is: "failed", live, detail: live.phase.detail };
  // At rest, and not where the operation leads: it was changed since, and waiting brings nothing.
  const hasBegun =
    sightings.wasInProgress || expected.baseline === undefined || expected.baseline === "first-look";
  const mayStay = phases.includes("gone") && expected.baseline !== "first-look";
  if (!hasBegun || mayStay || !settled) return undefined;
  return { is: "failed", live, detail: `it is ${live.phase.detail}, and graphform did not ask for that` };
}

/** What was not shown yet may be hidden while it is young; after that, and once it was shown, it is gone. */
function evaluateAbsence(
  expected: Expectation,
  { wasShown }: Sightings,
  now: number,
  delays: Delays,
): Arrival | undefined {
  const { phases, baseline, madeAt } = expected;
  const isDeletion = phases.includes("gone");
  const mayBeHidden = isDeletion ? !wasShown : true;
  if (mayBeHidden && absence(madeAt, now, delays) !== "conclusive") return undefined;
  if (baseline === undefined && !wasShown && !isDeletion) return { is: "never-there" };
  return gone(expected, { id: "", phase: { is: "gone", detail: "" }, spec: {}, outputs: {} });
}

function gone({ phases }: Expectation, live: Live): Arrival {
  if (phases.includes("gone")) return { is: "arrived", live: undefined };
  return { is: "failed", live, detail: "it is gone: it was deleted while apply waited" };
}
