/** @module Ends a call when the longest time that a run waits for an answer is up. */
import { exitCodes, isServiceError, ServiceError } from "../../model/errors.ts";
import { limitWords, waitLonger } from "../../model/time-limit.ts";
import type { ServiceOptions } from "../service-options.ts";

/**
 * Does work that has the client's patience at most: after that its signal is aborted, and an error that leaves no doubt about a write
 * becomes one that says so (exit 7).
 */
export async function withinPatience<T>(
  operation: string,
  { clock, patience }: Pick<ServiceOptions, "clock" | "patience">,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  if (patience === undefined) return work(signal);
  const [limit, done] = [new AbortController(), new AbortController()];
  clock.sleep(patience, done.signal).then(
    () => limit.abort(new Error("the time is up")),
    () => undefined,
  );
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted || (isServiceError(error) && error.mayHaveWorked))
      throw error;
    throw new ServiceError("aborted", operation, `${operation}: no answer within ${limitWords(patience)}`, {
      wasSent: false,
      exitCode: exitCodes.converging,
      hint: waitLonger,
      cause: error,
    });
  } finally {
    done.abort();
  }
}
