/** @module Defines the error of a database that cannot be used. */
import { GraphformError } from "../model/errors.ts";

/** Reason of the failure. */
export type DatabaseFailure = "refused-credentials" | "unreachable" | "unresolved" | "no-tls";

/** A failed connection or command. The message contains no credentials. */
export class DatabaseError extends GraphformError {
  readonly failure: DatabaseFailure;
  /** True where the running database itself called the password wrong: no time-out, no "not ready", no missing right. */
  readonly isWrongPassword: boolean;

  constructor(failure: DatabaseFailure, message: string, cause?: unknown) {
    super(`database-${failure}`, message, { cause });
    this.name = "DatabaseError";
    this.failure = failure;
    this.isWrongPassword = cause instanceof Error && cause.message.startsWith("WRONGPASS");
  }
}

/** True for a database error. */
export function isDatabaseError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}
