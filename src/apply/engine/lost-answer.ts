import { asError, isServiceError, ServiceError } from "../../model/errors.ts";

/** The failure of a write. An exception of our own after sending says nothing about the work: the answer counts as lost. */
export function asServiceError(thrown: unknown, what: string): ServiceError {
  if (isServiceError(thrown)) return thrown;
  const { message } = asError(thrown);
  return new ServiceError("lost", what, message, { mayHaveWorked: true, cause: thrown });
}

/** Refusals that only say "not now": they are repeated until the time is up. */
export const notNow: readonly string[] = ["busy", "rate-limited"];
