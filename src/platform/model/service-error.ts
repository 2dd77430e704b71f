/** @module Defines the refusals of the platform host, their error body, and the count of failed writes. */
import { randomBytes } from "node:crypto";
import { fileTrouble } from "../../files/file-trouble.ts";
import type { JsonObject } from "../../model/json.ts";

const names: { readonly [status: number]: string } = {
  400: "bad_request",
  401: "auth_failure",
  403: "forbidden",
  404: "not_found",
  409: "invalid_state",
  413: "bad_request",
  415: "invalid_media_type",
  429: "too_many_requests",
  500: "failed_request",
  502: "bad_gateway",
  503: "service_unavailable",
  504: "gateway_timeout",
};

const temporary = new Set([429, 500, 502, 503, 504]);

export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: number;
  /** Seconds after which the client may try again. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** The value of a look-up; 404 if there is none. `what` names it, such as `snapshot snapshot-1`. */
export function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new ServiceError(404, `${what} not found`);
  return value;
}

/** The error body of a status. `id` is random; a 5xx is a fault, 504 a timeout. */
export function errorBody(status: number, message: string): JsonObject {
  return {
    name: names[status] ?? (status >= 500 ? "failed_request" : "bad_request"),
    id: randomBytes(6).toString("base64url"),
    message,
    temporary: temporary.has(status),
    timeout: status === 504,
    fault: status >= 500,
  };
}

/** A write to the data folder failed: the client gets a 500, and nothing was changed. */
export class StorageError extends ServiceError {
  constructor(cause: unknown) {
    super(500, `the platform cannot write to its data folder (${fileTrouble(cause)}); nothing was changed`);
  }
}

export interface StorageTrouble {
  /** Counts a failed write and returns the error for its caller. */
  failed(cause: unknown): StorageError;
  lost(lines: number, cause: unknown): void;
  /** Counts since the start, and the last reason, for the status. */
  report(): JsonObject;
}

export function createStorageTrouble(): StorageTrouble {
  let [failedWrites, lostLogLines, last] = [0, 0, ""];
  return {
    failed(cause) {
      failedWrites += 1;
      last = fileTrouble(cause);
      return new StorageError(cause);
    },
    lost(lines, cause) {
      lostLogLines += lines;
      last = fileTrouble(cause);
    },
    report: () => ({ failedWrites, lostLogLines, last }),
  };
}
