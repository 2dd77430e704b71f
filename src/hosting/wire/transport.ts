/** @module Sends requests over HTTP with connections that are kept alive. */

import { parseSetCookie } from "set-cookie-parser";
import type { Dispatcher, Pool } from "undici";
import { ServiceError } from "../../model/errors.ts";
import { connectionPools, isAboutTrust } from "../../network/connection-pools.ts";
import type { Transport, WireRequest, WireResponse } from "./answer-values.ts";

/** Options of `openConnections`. */
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

/** A transport and the function that closes its connections. */
export interface Connections {
  readonly send: Transport;
  close(): void;
}

/**
 * Opens connections. Calls undici's dispatch, which reports
 * when a request begins to be written: a failure before that is `unavailable`, later it is `lost`.
 */
export function openConnections(options: TransportOptions = {}): Connections {
  const { ca, limit = Number.POSITIVE_INFINITY, largest = 16 * 1024 * 1024 } = options;
  const { patience = Math.min(30_000, limit), longest = Math.min(45_000, limit) } = options;
  const pools = connectionPools({ ca, patience });
  return {
    send: (request, signal, unsent = signal) =>
      exchange(request, pools.of(request.origin), { signal, unsent }, { largest, longest }),
    close() {
      for (const pool of pools.all()) void pool.destroy();
    },
  };
}

function exchange(
  request: WireRequest,
  pool: Pool,
  { signal, unsent }: { readonly signal: AbortSignal; readonly unsent: AbortSignal },
  { largest, longest }: { readonly largest: number; readonly longest: number },
): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    const isGivenUp = (): boolean => signal.aborted || unsent.aborted;
    if (isGivenUp()) return reject(aborted(request, false));
    let controller: Dispatcher.DispatchController | undefined;
    let isTooLarge = false;
    let isEndless = false;
    let slow: NodeJS.Timeout | undefined;
    const answer: { status: number; headers: WireResponse["headers"]; chunks: Buffer[]; size: number } = {
      status: 0,
      headers: {},
      chunks: [],
      size: 0,
    };
    const giveUp = (): void => {
      if (controller === undefined) reject(aborted(request, false));
      else controller.abort(new Error("aborted"));
    };
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        // Called just before the request is written.
        if (isGivenUp()) return started.abort(new Error("aborted"));
        controller = started;
        // undici ends silent connections; this timer ends answers that go on without end.
        slow = setTimeout(() => {
          isEndless = true;
          started.abort(new Error("endless"));
        }, longest).unref();
      },
      onResponseStart(_, status, headers) {
        Object.assign(answer, { status, headers });
      },
      onResponseData(started, chunk) {
        answer.size += chunk.length;
        answer.chunks.push(chunk);
        if (answer.size <= largest) return;
        isTooLarge = true;
        started.abort(new Error("too large"));
      },
      onResponseEnd() {
        clearTimeout(slow);
        signal.removeEventListener("abort", giveUp);
        const { status, headers, chunks } = answer;
        resolve({ status, headers, body: Buffer.concat(chunks).toString("utf8") });
      },
      onResponseError(_, cause) {
        clearTimeout(slow);
        signal.removeEventListener("abort", giveUp);
        if (isTooLarge) reject(tooLarge(request, largest));
        else if (isEndless) reject(endless(request, answer.status));
        else
          reject(
            signal.aborted || (controller === undefined && unsent.aborted)
              ? aborted(request, controller !== undefined)
              : failure(request, cause, controller !== undefined),
          );
      },
    };
    signal.addEventListener("abort", giveUp, { once: true });
    const { path, method, headers, body = null } = request;
    pool.dispatch({ path, method, headers, body }, handler);
  });
}

function aborted({ operation, isWrite }: WireRequest, sent: boolean): ServiceError {
  return new ServiceError("aborted", operation, `${operation}: interrupted`, {
    mayHaveWorked: isWrite && sent,
    wasSent: sent,
  });
}

function tooLarge({ operation, isWrite }: WireRequest, largest: number): ServiceError {
  const message = `${operation}: the answer is larger than ${Math.round(largest / 1024 / 1024)} MB`;
  return new ServiceError("shape", operation, message, { mayHaveWorked: isWrite });
}

function endless({ operation, isWrite }: WireRequest, status: number): ServiceError {
  const message = `${operation}: the answer does not come to an end`;
  // With its status it does not pass for one that may be asked for again: each would take as long.
  return new ServiceError("shape", operation, message, { mayHaveWorked: isWrite, status });
}

function failure({ operation, origin, isWrite }: WireRequest, cause: Error, sent: boolean): ServiceError {
  const code = codeOf(cause);
  if (sent) {
    const options = { mayHaveWorked: isWrite, cause };
    return new ServiceError(
      "lost",
      operation,
      `${operation}: the connection to ${origin} was lost (${code})`,
      options,
    );
  }
  const hint = isAboutTrust(code)
    ? "set GRAPHFORM_CA_FILE where the service has a certificate authority of its own"
    : "check the address, and whether the service runs";
  return new ServiceError("unavailable", operation, `${operation}: ${origin} cannot be reached (${code})`, {
    cause,
    hint,
    wasSent: false,
  });
}

function codeOf(cause: Error): string {
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  return cause.name;
}

/** A cookie as Set-Cookie brings it. */
interface Cookie {
  readonly value: string;
  /** In ms; absent where the cookie has no Max-Age. */
  readonly maxAge?: number;
}

/**
 * Returns the cookies of an answer by name, their values as they are sent but for quotes around them. Skips entries that
 * are not name=value, and cookies that are deleted (no value, or a Max-Age of 0).
 */
export function parseCookies(header: string | readonly string[] | undefined): ReadonlyMap<string, Cookie> {
  const lines = header === undefined ? [] : typeof header === "string" ? [header] : [...header];
  // Silent: it would print the names and attributes that it does not know.
  const cookies = parseSetCookie(lines, { decodeValues: false, silent: true });
  return new Map(
    cookies.flatMap(({ name, value, maxAge }): [string, Cookie][] => {
      const text = value.replace(/^"(.*)"$/, "$1");
      if (name === "" || text === "" || (maxAge !== undefined && maxAge <= 0)) return [];
      return [[name, maxAge === undefined ? { value: text } : { value: text, maxAge: maxAge * 1000 }]];
    }),
  );
}
