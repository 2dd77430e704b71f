/** @module Defines the error of a database that cannot be used. */
import { GraphformError } from "../model/errors.ts";

/** Reason of the failure. */
export type DatabaseFailure = "refused-credentials" | "unreachable" | "unresolved" | "no-tls";

/** Obstacle that kept an unreachable database from answering. */
export type Obstacle = "refused" | "silent" | "not-trusted" | "no-handshake" | "not-ready" | "cut";

/** A failed connection or command. The message contains no credentials. */
export class DatabaseError extends GraphformError {
  readonly failure: DatabaseFailure;
  /** The obstacle where it is unreachable. */
  readonly obstacle: Obstacle;
  /** True where the running database itself called the password wrong: no time-out, no "not ready", no missing right. */
  readonly isWrongPassword: boolean;

  constructor(failure: DatabaseFailure, message: string, cause?: unknown, obstacle: Obstacle = "cut") {
    super(`database-${failure}`, message, { cause });
    this.name = "DatabaseError";
    this.failure = failure;
    this.obstacle = obstacle;
    this.isWrongPassword = cause instanceof Error && cause.message.startsWith("WRONGPASS");
  }
}

/** True for a database error. */
export function isDatabaseError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}
