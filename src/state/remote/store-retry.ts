/** @module Repeats a request to a store that did not answer, with growing pauses. */
import type { Clock } from "../../model/clock.ts";
import { isGraphformError } from "../../model/errors.ts";
import { waitLonger, withinLimit } from "../../model/time-limit.ts";
import { type PassingFailure, repeatRequest } from "../../network/repeat-request.ts";
import { StoreBusyError, unreachable } from "./store-refusals.ts";

/** Most attempts of one request: with the pauses, a store may be away for some 15 s. */
const tries = 6;

/** Ms after which an attempt without an answer counts as one that hung, and most of those: a process that was stopped looks like one. */
const hanging = { after: 15_000, most: 2 };

const pauses = { first: 500, longest: 8000 };

export interface RetryOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Ms from the first request to the last one that a store may ask for with `Retry-After`. Default 40 s. */
  readonly longest?: number;
  /** Ends the wait with exit 7; a request that is on its way then is left alone. Default: none. */
  readonly limit?: WaitLimit | undefined;
}

/** Longest time for an answer, in ms, and the store for the message. */
export interface WaitLimit {
  readonly patience: number;
  readonly where: string;
}

/**
 * Calls `work` with the number of the attempt, from 1, until the store answers. Only `state-unreachable` is repeated, a request that hung
 * once only. A `Retry-After` is waited for; if it is too long, nothing more is sent. Rejects with the last error, or the signal's reason.
 */
export function untilAnswered<T>(
  work: (attempt: number) => Promise<T>,
  { clock, signal, longest = 40_000, limit }: RetryOptions,
): Promise<T> {
  const end = clock.now() + longest;
  let hung = 0;
  const attempted = async (attempt: number): Promise<T> => {
    const began = clock.now();
    try {
      return await work(attempt);
    } catch (error) {
      if (clock.now() - began >= hanging.after) hung += 1;
      throw error;
    }
  };
  const passing = (error: Error): PassingFailure | undefined => {
    if (!isUnreachable(error)) return undefined;
    if (!(error instanceof StoreBusyError)) return hung < hanging.most ? {} : undefined;
    const { retryAfter } = error;
    return retryAfter > 0 && clock.now() + retryAfter > end ? undefined : { retryAfter };
  };
  const repeat = (stop?: AbortSignal): Promise<T> =>
    repeatRequest(attempted, { tries, pauses, passing }, clock, stop);
  if (limit === undefined) return repeat(signal);
  const { patience, where } = limit;
  return withinLimit({ clock, patience, signal }, repeat, (words) =>
    unreachable(where, `gave ${words}`, waitLonger),
  );
}

/** True for a request without an answer: it may have happened. */
export function isUnreachable(error: unknown): boolean {
  return isGraphformError(error) && error.code === "state-unreachable";
}
