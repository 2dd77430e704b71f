/** @module Repeats a request to a store that did not answer, with growing pauses. */
import type { Clock } from "../../model/clock.ts";
import { isGraphformError } from "../../model/errors.ts";
import { repeatRequest } from "../../network/repeat-request.ts";

/** Most attempts of one request: with the pauses, a store may be away for some 15 s. */
const tries = 6;

/** Pauses between attempts in ms. */
const pauses = { first: 500, longest: 8000 };

/**
 * Calls `work` until the store answers. Only `state-unreachable` is repeated, for what the store refuses it refuses again. `work`
 * gets the number of the attempt, from 1. Rejects with the last error, or with the reason of the signal.
 */
export function untilAnswered<T>(
  work: (attempt: number) => Promise<T>,
  clock: Clock,
  signal?: AbortSignal,
): Promise<T> {
  const passing = (error: Error): object | undefined => (isUnreachable(error) ? {} : undefined);
  return repeatRequest(work, { tries, pauses, passing }, clock, signal);
}

/** True for a request without an answer: it may have happened. */
export function isUnreachable(error: unknown): boolean {
  return isGraphformError(error) && error.code === "state-unreachable";
}
