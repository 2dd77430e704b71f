/** @module Learns how long operations take. */
import { durationKey } from "../model/durations.ts";
import type { Durations } from "../model/state.ts";

/** The weight of a new measurement: one slow operation does not make the next forecast wrong, a slower service does soon. */
const weight = 0.3;

/** The durations with one more measurement, smoothed and in whole ms; keys are sorted. */
export function withDuration(
  known: Durations | undefined,
  kind: string,
  operation: string,
  took: number,
): Durations {
  const key = durationKey(kind, operation);
  const before = known !== undefined && Object.hasOwn(known, key) ? known[key] : undefined;
  const smoothed = before === undefined ? took : Math.round(before + weight * (took - before));
  const entries = Object.entries({ ...known, [key]: smoothed });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
