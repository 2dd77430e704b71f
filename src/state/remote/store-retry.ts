/** @module Repeats a request to a store that did not answer, with growing pauses. */
import pRetry from "p-retry";
import type { Clock } from "../../model/clock.ts";
import { isGraphformError } from "../../model/errors.ts";

/** Most attempts of one request: with the pauses, a store may be away for some 15 s. */
const tries = 6;

/** Pauses between attempts in ms: doubled each time, with a random part of up to a half. */
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
  return pRetry(work, {
    retries: tries - 1,
    minTimeout: 0,
    shouldRetry: ({ error }) => isUnreachable(error),
    onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
      if (!isUnreachable(error) || retriesLeft === 0) return;
      const pause = Math.min(pauses.longest, pauses.first * 2 ** (attemptNumber - 1));
      await clock.sleep(pause * (0.5 + clock.random() / 2), signal);
    },
  });
}

/** True for a request without an answer: it may have happened. */
export function isUnreachable(error: unknown): boolean {
  return isGraphformError(error) && error.code === "state-unreachable";
}
