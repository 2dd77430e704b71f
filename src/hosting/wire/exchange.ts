/** @module Traces requests and turns refusals into typed errors. */
import type { Clock } from "../../model/clock.ts";
import { isServiceError, ServiceError } from "../../model/errors.ts";
import type { Hide } from "../../model/known-secrets.ts";
import type { Profile } from "../../model/profile.ts";
import { serviceError } from "./service-error.ts";
import type { Transport, WireResponse } from "./wire.ts";

/** Settings of `tracedExchange`. */
export interface ExchangeSettings {
  readonly transport: Transport;
  readonly profile: Profile;
  readonly clock: Clock;
  /** One line per request: method, path, status or failure, ms. */
  readonly trace: ((line: string) => void) | undefined;
  /** Aborted once the client is closed. */
  readonly closing: AbortSignal;
  /** Receives the `Date` of each answer by its origin, in ms since 1970. */
  readonly dates: Map<string, number>;
  /** Hides the secrets of the run in the service's words. */
  readonly hide: Hide;
}

/** Wraps a transport: traces each request, and rejects with a ServiceError for any status but 2xx. */
export function tracedExchange(
  settings: ExchangeSettings,
): (...args: Parameters<Transport>) => Promise<WireResponse> {
  const { transport, profile, clock, trace, closing, dates, hide } = settings;
  return async (request, signal, unsent) => {
    const started = clock.now();
    const traceEnd = (what: number | string): void =>
      trace?.(`${request.method} ${request.path} ${what} ${Math.round(clock.now() - started)} ms`);
    try {
      if (closing.aborted) throw interrupted(request.operation);
      const response = await transport(request, signal, unsent);
      traceEnd(response.status);
      const date = Date.parse(String(response.headers["date"]));
      if (!Number.isNaN(date)) dates.set(request.origin, date);
      if (response.status >= 200 && response.status < 300) return response;
      throw serviceError(response, request, profile, clock.now(), hide);
    } catch (error) {
      if (isServiceError(error) && error.status === undefined) traceEnd(error.failure);
      throw error;
    }
  };
}

/** The error of a request that was cancelled before it was sent. */
export function interrupted(operation: string): ServiceError {
  return new ServiceError("aborted", operation, `${operation}: interrupted`, { wasSent: false });
}
