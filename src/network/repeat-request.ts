/** @module Repeats a request that failed for now, with growing pauses: the one loop of tries of everything that speaks HTTP. */
import pRetry from "p-retry";
import type { Clock } from "../model/clock.ts";

export interface PassingFailure {
  /** Shortest pause that the server asks for, in ms. */
  readonly retryAfter?: number | undefined;
  /** True if the server was full: this does not count as a try. */
  readonly isFree?: boolean;
  /** True if something else paces the requests: nothing is waited for here. */
  readonly isPaced?: boolean;
}

export interface RepeatRules {
  /** Most attempts that count. */
  readonly tries: number;
  /** Most attempts at all. Default: no limit for those that do not count. */
  readonly most?: number;
  /** Pauses in ms: doubled each time, with a random part of up to a half. */
  readonly pauses: { readonly first: number; readonly longest: number };
  /** Undefined for an error that another attempt would meet again. */
  readonly passing: (error: Error) => PassingFailure | undefined;
}

/** Calls `work` with the number of the attempt, from 1, until it succeeds. Rejects with the last error, or with the reason of the signal. */
export function repeatRequest<T>(
  work: (attempt: number) => Promise<T>,
  { tries, most = Number.POSITIVE_INFINITY, pauses, passing }: RepeatRules,
  clock: Clock,
  signal?: AbortSignal,
): Promise<T> {
  return pRetry(work, {
    retries: tries - 1,
    minTimeout: 0,
    shouldConsumeRetry: ({ error }) => passing(error)?.isFree !== true,
    shouldRetry: ({ error, attemptNumber }) => passing(error) !== undefined && attemptNumber < most,
    onFailedAttempt: async ({ error, retriesLeft, attemptNumber }) => {
      const failure = passing(error);
      if (failure === undefined || failure.isPaced === true || retriesLeft === 0 || attemptNumber >= most)
        return;
      const pause = Math.min(pauses.longest, pauses.first * 2 ** Math.min(attemptNumber - 1, 10));
      await clock.sleep(Math.max(failure.retryAfter ?? 0, pause * (0.5 + clock.random() / 2)), signal);
    },
  });
}
