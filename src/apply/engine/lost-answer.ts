/** @module Turns anything that a write threw into a service error, and lists refusals that mean "not now". */
import { asError, isGraphformError, isServiceError, ServiceError } from "../../model/errors.ts";
import type { ApplyContext } from "../context.ts";

/** The error of a write as a service error. An exception of our own after sending proves nothing: the answer counts as lost. */
export function asServiceError(
  thrown: unknown,
  what: string,
  { hide }: Pick<ApplyContext, "hide">,
): ServiceError {
  if (isServiceError(thrown)) return thrown;
  const message = isGraphformError(thrown) ? thrown.message : hide(asError(thrown).message);
  return new ServiceError("lost", what, message, { mayHaveWorked: true, cause: thrown });
}

/** Refusals that mean "not now": such a request is repeated until the time is up. */
export const notNow: readonly string[] = ["busy", "rate-limited"];
