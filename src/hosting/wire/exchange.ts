import type { Clock } from "../../model/clock.ts";
import { isServiceError, ServiceError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import type { Hide } from "../service-options.ts";
import { serviceError } from "./service-error.ts";
import type { Transport, WireResponse } from "./wire.ts";

/** What an exchange needs besides the request. */
export interface ExchangeSettings {
  readonly transport: Transport;
  readonly profile: Profile;
  readonly clock: Clock;
  /** One line per request: method, path, status or failure, ms. */
  readonly trace: ((line: string) => void) | undefined;
  /** Aborted once the client is closed. */
  readonly closing: AbortSignal;
  /** Hides the secrets of the run in the service's words. */
  readonly hide: Hide;
}

/** A transport that traces, and takes any status but 2xx for a ServiceError. */
export function tracedExchange(
  settings: ExchangeSettings,
): (...args: Parameters<Transport>) => Promise<WireResponse> {
  const { transport, profile, clock, trace, closing, hide } = settings;
  return async (request, signal, unsent) => {
    const started = clock.now();
    const told = (what: number | string): void =>
      trace?.(`${request.method} ${request.path} ${what} ${Math.round(clock.now() - started)} ms`);
    try {
      if (closing.aborted) throw interrupted(request.operation);
      const response = await transport(request, signal, unsent);
      told(response.status);
      if (response.status >= 200 && response.status < 300) return response;
      throw serviceError(response, request, profile, clock.now(), hide);
    } catch (error) {
      if (isServiceError(error) && error.status === undefined) told(error.failure);
      throw error;
    }
  };
}

/** The caller gave up before anything was sent. */
export function interrupted(operation: string): ServiceError {
  return new ServiceError("aborted", operation, `${operation}: interrupted`, { wasSent: false });
}
