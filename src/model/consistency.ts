/** @module Decides what the service may still hide. Only this file reads `timing.listLag` and `timing.settle`. */
import type { Live } from "./observed.ts";
import type { Timing } from "./profile.ts";

/** The two promises of a profile about delays, in ms. */
export type Delays = Pick<Timing, "listLag" | "settle">;

/** `conclusive` where a missing object does not exist; otherwise the time to look again, in ms since 1970. */
export type Absence = "conclusive" | { readonly recheckAt: number };

/**
 * Judges an object that is not shown `now`: lists and describe may omit it for up to `listLag` after
 * `createdAt`, the latest time at which it can have been created. Times are ms since 1970.
 */
export function absence(createdAt: number, now: number, { listLag }: Delays): Absence {
  const recheckAt = createdAt + listLag;
  return now < recheckAt ? { recheckAt } : "conclusive";
}

/** A resource as shown before an operation was accepted; undefined where it did not exist. */
export type Baseline = Pick<Live, "phase" | "modifiedAt"> | undefined;

/**
 * True where the shown status is newer than an operation that the service accepted at `acceptedAt`: right after a 202 the
 * previous status may still show. It is later where status or modification time moved, or once `settle` has passed.
 */
export function isCurrent(
  baseline: Baseline,
  live: Pick<Live, "phase" | "modifiedAt">,
  acceptedAt: number,
  now: number,
  { settle }: Pick<Delays, "settle">,
): boolean {
  if (baseline === undefined || baseline.phase.is !== live.phase.is) return true;
  const hasMoved = live.modifiedAt !== undefined && live.modifiedAt !== baseline.modifiedAt;
  return hasMoved || isSettled(acceptedAt, now, { settle });
}

/** True once the previous status of an operation accepted at `acceptedAt` can no longer be what is shown. */
export function isSettled(acceptedAt: number, now: number, { settle }: Pick<Delays, "settle">): boolean {
  return !(now < acceptedAt + settle);
}
