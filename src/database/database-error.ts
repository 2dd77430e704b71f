import { GraphformError } from "../model/errors.ts";

/** Why a database could not be spoken to. */
export type DatabaseFailure = "refused-credentials" | "unreachable" | "unresolved";

/** A database that could not be spoken to. The message holds no credentials. */
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
