/** @module Repeats a request to a store that did not answer, with growing pauses. */
import type { Clock } from "../../model/clock.ts";
import { isGraphformError } from "../../model/errors.ts";
import { type PassingFailure, repeatRequest } from "../../network/repeat-request.ts";
import { StoreBusyError } from "./wire/refusals.ts";

/** Most attempts of one request: with the pauses, a store may be away for some 15 s. */
const tries = 6;

/** Pauses between attempts in ms. */
const pauses = { first: 500, longest: 8000 };

/** Time and end of repeated requests. */
export interface RetryOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Ms from the first request to the last one that a store may ask for with `Retry-After`. Default 40 s. */
  readonly longest?: number;
}

/**
 * Calls `work` until the store answers. Only `state-unreachable` is repeated, for what the store refuses it refuses again. `work`
 * gets the number of the attempt, from 1. A store that says how long to wait is waited for so long; where that is too long,
 * nothing more is sent. Rejects with the last error, or with the reason of the signal.
 */
export function untilAnswered<T>(
  work: (attempt: number) => Promise<T>,
  { clock, signal, longest = 40_000 }: RetryOptions,
): Promise<T> {
  const end = clock.now() + longest;
  const passing = (error: Error): PassingFailure | undefined => {
    if (!isUnreachable(error)) return undefined;
    if (!(error instanceof StoreBusyError)) return {};
    const { retryAfter } = error;
    return retryAfter > 0 && clock.now() + retryAfter > end ? undefined : { retryAfter };
  };
  return repeatRequest(work, { tries, pauses, passing }, clock, signal);
}

/** True for a request without an answer: it may have happened. */
export function isUnreachable(error: unknown): boolean {
  return isGraphformError(error) && error.code === "state-unreachable";
}
