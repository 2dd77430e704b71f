/** @module Defines the error of a database that cannot be used. */
import { GraphformError } from "../model/errors.ts";

/** Reason of the failure. */
export type DatabaseFailure = "refused-credentials" | "unreachable" | "unresolved";

/** A failed connection or command. The message contains no credentials. */
export class DatabaseError extends GraphformError {
  readonly failure: DatabaseFailure;

  constructor(failure: DatabaseFailure, message: string, cause?: unknown) {
    super(`database-${failure}`, message, { cause });
    this.name = "DatabaseError";
    this.failure = failure;
  }
}

/** True for a database error. */
export function isDatabaseError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}
