/** @module Repeats requests to the service that change nothing. */
import type { Clock } from "../../model/clock.ts";
import { isServiceError, type ServiceError } from "../../model/errors.ts";
import { repeatRequest } from "../../network/repeat-request.ts";

/** Most attempts of a request, and most while the service only answers 429. */
const most = { tries: 6, refusals: 60 };

/** Pauses between attempts in ms. */
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
  return repeatRequest(
    send,
    {
      ...{ tries: most.tries, most: most.refusals, pauses },
      passing: (error) => {
        if (!isServiceError(error) || !isPassing(error)) return undefined;
        const isFull = error.failure === "rate-limited";
        return { retryAfter: error.retryAfter, isFree: isFull, isPaced: isPaced && isFull };
      },
    },
    clock,
    signal,
  );
}

/** True for failures after which a read may be repeated: it was not taken, or its answer was lost or nonsense. */
export function passesForRead(error: ServiceError): boolean {
  if (error.failure === "shape") return error.status === undefined;
  return ["unavailable", "lost", "rate-limited"].includes(error.failure);
}
