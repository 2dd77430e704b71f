/** @module Repeats requests that change nothing. */
import pRetry from "p-retry";
import type { Clock } from "../../model/clock.ts";
import { isServiceError, type ServiceError } from "../../model/errors.ts";

/** Most attempts of a request, and most while the service only answers 429. */
const most = { tries: 6, refusals: 60 };

/** Pauses between attempts in ms: doubled each time, with a random part of up to a half. */
const pauses = { first: 100, longest: 5000 };

/**
 * Sends a read until it succeeds or `isPassing` is false for its error. A service that is full (429) does not count as
 * a try; it is waited for here, or by the budget that `isPaced` says the request goes through. Rejects with the last error.
 */
export function withRetry<T>(
  send: () => Promise<T>,
  isPassing: (error: ServiceError) => boolean,
  isPaced: boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<T> {
  return pRetry(send, {
    retries: most.tries - 1,
    minTimeout: 0,
    shouldConsumeRetry: ({ error }) => !isServiceError(error, "rate-limited"),
    shouldRetry: ({ error, attemptNumber }) =>
      isServiceError(error) && isPassing(error) && attemptNumber < most.refusals,
    onFailedAttempt: async ({ error, retriesLeft, attemptNumber }) => {
      if (!isServiceError(error) || !isPassing(error) || retriesLeft === 0 || attemptNumber >= most.refusals)
        return;
      if (isPaced && error.failure === "rate-limited") return;
      const pause = Math.min(pauses.longest, pauses.first * 2 ** Math.min(attemptNumber - 1, 10));
      await clock.sleep(Math.max(error.retryAfter ?? 0, pause * (0.5 + clock.random() / 2)), signal);
    },
  });
}

/** True for failures after which a read may be repeated: it was not taken, or its answer was lost or nonsense. */
export function passesForRead(error: ServiceError): boolean {
  if (error.failure === "shape") return error.status === undefined;
  return ["unavailable", "lost", "rate-limited"].includes(error.failure);
}
