/** @module Exchanges one request with the service: names, patience, repetitions, trace, typed errors. */
import type { Clock } from "../../model/clock.ts";
import { exitCodes, isServiceError, ServiceError } from "../../model/errors.ts";
import type { KnownSecrets } from "../../model/known-secrets.ts";
import { limitWords, waitLonger } from "../../model/time-limit.ts";
import { repeatRequest } from "../../network/repeat-request.ts";
import type { ServiceOptions } from "../service-options.ts";
import { serviceError } from "./service-error.ts";
import { textsBehind } from "./spelling.ts";
import type { Transport, WireResponse } from "./transport.ts";

export interface ExchangeSettings
  extends Pick<ServiceOptions, "profile" | "clock" | "trace" | "secretNames"> {
  readonly transport: Transport;
  readonly closing: AbortSignal;
  readonly dates: ReturnType<typeof serviceDates>;
  /** Hides the secrets of the run in the service's words; those that an answer shows are added before anything else is made of it. */
  readonly secrets: KnownSecrets;
}

/** Answers whose times differ by so many ms, beside the time between them, are not of one clock. */
const oneClock = 5 * 60_000;

/** Keeps the newest time of each origin, from the `Date` of its answers: an answer out of a cache shows an older one. */
export function serviceDates(clock: Pick<Clock, "now">) {
  /** The newest time, and by how much the times were ahead of this machine's clock at least and at most. */
  const seen = new Map<string, { newest: number; least: number; most: number }>();
  return {
    see(origin: string, headers: WireResponse["headers"]): void {
      const date = Date.parse(String(headers["date"]));
      if (Number.isNaN(date)) return;
      const ahead = date - clock.now();
      const { newest, least, most } = seen.get(origin) ?? { newest: date, least: ahead, most: ahead };
      seen.set(origin, {
        newest: Math.max(newest, date),
        least: Math.min(least, ahead),
        most: Math.max(most, ahead),
      });
    },
    /** The newest time of an origin, in ms since 1970. Undefined if it shows none, or if its answers are of clocks that contradict each other. */
    newest(origin: string): number | undefined {
      const times = seen.get(origin);
      return times === undefined || times.most - times.least > oneClock ? undefined : times.newest;
    },
  };
}

/** Wraps a transport: traces each request, learns the secrets of each answer, and rejects with a ServiceError for any status but 2xx. */
export function tracedExchange(
  settings: ExchangeSettings,
): (...args: Parameters<Transport>) => Promise<WireResponse> {
  const { transport, profile, clock, trace, closing, dates, secrets, secretNames = [] } = settings;
  return async (request, signal, mayLeave) => {
    const started = clock.now();
    const traceEnd = (what: number | string): void =>
      trace?.(`${request.method} ${request.path} ${what} ${Math.round(clock.now() - started)} ms`);
    try {
      if (closing.aborted) throw interrupted(request.operation);
      const response = await transport(request, signal, mayLeave);
      traceEnd(response.status);
      dates.see(request.origin, response.headers);
      secrets.see(textsBehind(secretNames, response.body));
      if (response.status >= 200 && response.status < 300) return response;
      throw serviceError(response, request, profile, clock.now(), secrets.hide);
    } catch (error) {
      if (isServiceError(error) && error.status === undefined) traceEnd(error.failure);
      throw error;
    }
  };
}

export function interrupted(operation: string): ServiceError {
  return new ServiceError("aborted", operation, `${operation}: interrupted`, { wasSent: false });
}

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

/** Ends work when the time of --timeout is up (exit 7). If a write may have worked, its own error stays. */
export async function withinPatience<T>(
  operation: string,
  { clock, patience }: Pick<ServiceOptions, "clock" | "patience">,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<T>,
  what: () => string = () => operation,
): Promise<T> {
  if (patience === undefined) return work(signal);
  const [limit, done] = [new AbortController(), new AbortController()];
  clock.sleep(patience, done.signal).then(
    () => limit.abort(new Error("the time is up")),
    () => undefined,
  );
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted || (isServiceError(error) && error.mayHaveWorked))
      throw error;
    throw new ServiceError("aborted", operation, `${what()}: no answer within ${limitWords(patience)}`, {
      wasSent: false,
      exitCode: exitCodes.converging,
      hint: waitLonger,
      cause: error,
    });
  } finally {
    done.abort();
  }
}
