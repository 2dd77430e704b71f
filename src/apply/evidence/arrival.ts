/** @module Decides from what is shown whether an accepted operation has arrived. Pure. */
import { type Baseline, type Delays, isCurrent, isSettled } from "../../model/consistency.ts";
import type { Live, PhaseName } from "../../model/observed.ts";

/** The expectation that a wait ends with. Times are ms since 1970. */
export interface Expectation {
  /** Phases that end the waiting well. */
  readonly phases: readonly PhaseName[];
  /** The look before the operation was accepted; undefined for a new resource. `first-look`: an earlier run sent it, take the first at rest. */
  readonly baseline: Baseline | "first-look";
  readonly acceptedAt: number;
  /** The last moment at which the object can have been made: its creation grace period starts here. */
  readonly madeAt: number;
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
  if (!sightings.wasInProgress && !isCurrent(baseline, live, acceptedAt, now, delays)) return undefined;
  if (phases.includes(live.phase.is)) return { is: "arrived", live };
  const settled = isSettled(acceptedAt, now, delays);
  if (live.phase.is === "waiting-for-person")
    return settled ? { is: "waiting-for-person", live, detail: live.phase.detail } : undefined;
  // A resource that had failed before can be deleted like any other; only a later failure belongs to the deletion.
  const isOldFailure = phases.includes("gone") && !sightings.wasInProgress;
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
