/** @module Sends requests to the service, once each, and says in a ServiceError whether they were sent. */
import { ServiceError } from "../../model/errors.ts";
import { type HttpAnswer, HttpError, type HttpRequest, openHttp } from "../../network/send-request.ts";

export interface WireRequest extends Omit<HttpRequest, "body"> {
  /** Our name of the operation, for errors: `instance.describe`. */
  readonly operation: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: string;
  /** True for a request that changes something: its failure may leave the outcome unknown. */
  readonly isWrite: boolean;
}

/** The answer as it came; every status is one. */
export interface WireResponse extends Omit<HttpAnswer, "body"> {
  readonly body: string;
}

/**
 * Sends one request, once. Rejects with ServiceError: `unavailable` if it was certainly not sent, `lost` if that is unknown,
 * `shape` if the answer was too large, `aborted` if `signal` is, or if `mayLeave`, asked just before it leaves, says no.
 */
export type Transport = (
  request: WireRequest,
  signal: AbortSignal,
  mayLeave?: () => boolean,
) => Promise<WireResponse>;

export interface TransportOptions {
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
  /** Longest silence of a connection before its request is aborted, in ms. */
  readonly patience?: number;
  /** Longest time for a whole answer, in ms. */
  readonly longest?: number;
  /** Shortens both, in ms. */
  readonly limit?: number;
  /** The largest answer that is read, in bytes. */
  readonly largest?: number;
}

/** Opens connections to the service. A failure before a request was written is `unavailable`, later it is `lost`. */
export function openConnections(options: TransportOptions = {}): { readonly send: Transport; close(): void } {
  const { ca, limit = Number.POSITIVE_INFINITY, largest: maxSize = 16 * 1024 * 1024 } = options;
  const { patience = Math.min(30_000, limit), longest = Math.min(45_000, limit) } = options;
  const http = openHttp({ ca, silence: patience, timeout: longest, maxSize });
  return {
    async send(request, signal, mayLeave) {
      try {
        const { status, headers, body } = await http.send(request, signal, mayLeave);
        return { status, headers, body: body.toString("utf8") };
      } catch (error) {
        throw error instanceof HttpError ? failureOf(request, error, maxSize) : error;
      }
    },
    close: () => void http.close(),
  };
}

function failureOf(
  { operation, origin, isWrite }: WireRequest,
  error: HttpError,
  maxSize: number,
): ServiceError {
  const { failure, wasSent, code, isAboutTrust, status } = error;
  const evidence = { mayHaveWorked: isWrite && wasSent, wasSent };
  const said = (what: string): string => `${operation}: ${what}`;
  if (failure === "aborted") return new ServiceError("aborted", operation, said("interrupted"), evidence);
  if (!wasSent) {
    const hint = isAboutTrust
      ? "set GRAPHFORM_CA_FILE if the service has a certificate authority of its own"
      : "check the address, and whether the service runs";
    const message = said(`${origin} cannot be reached (${code})`);
    return new ServiceError("unavailable", operation, message, { ...evidence, cause: error.cause, hint });
  }
  if (failure === "large") {
    const message = said(`the answer is larger than ${Math.round(maxSize / 1024 / 1024)} MB`);
    return new ServiceError("shape", operation, message, evidence);
  }
  // With its status it is not repeated: each repetition would take as long.
  const endless = said("the answer does not come to an end");
  if (failure === "slow") return new ServiceError("shape", operation, endless, { ...evidence, status });
  const message = said(`the connection to ${origin} was lost (${code})`);
  return new ServiceError("lost", operation, message, { ...evidence, cause: error.cause });
}
