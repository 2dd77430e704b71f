/** @module Sends a write until the service has taken it; the only function that repeats writes. */
import { asError, isGraphformError, isServiceError, ServiceError } from "../../model/errors.ts";
import { asTimeUp } from "../../model/time-limit.ts";
import type { ApplyContext } from "../context.ts";

/** The end of one attempt, from evidence: the write has worked, it did nothing, or nothing shows what it did. */
export type Attempt<Value> = { readonly is: "accepted"; readonly value: Value } | Failed;

/** An attempt that is not known to have worked. */
export interface Failed {
  readonly is: "rejected" | "unknown";
  readonly error: ServiceError;
  /** The time by which it counts as made in time or late, in ms since 1970. */
  readonly endedAt: number;
  /** True if another operation was seen in progress: the refusal was no more than that. */
  readonly isInProgress?: boolean;
}

/** A write that may be repeated. */
export interface Write<Value> {
  /** Sends the request once, and finds out what came of it. Throws if repeating is no use. */
  readonly attempt: () => Promise<Attempt<Value>>;
  /** Longest time for all of it, in ms. After that, "not now" counts as a refusal. */
  readonly timeout: number;
  /** True if the write is not to be sent again. `isLate`: the time is up. */
  readonly isSpent: (spent: Spent, isLate: boolean) => boolean;
  /** The error of a write that is not sent again. */
  readonly exhausted: (last: Failed, spent: Spent) => Error;
  /** Pause before the next attempt, in ms; without it finding out has taken its time. */
  readonly pause?: (last: Failed, spent: Spent) => number;
}

/** Counts of repetitions, by reason. */
export interface Spent {
  /** Refusals and lost answers; those that say "not now" do not count before the time is up. */
  readonly refusals: number;
  /** Attempts of which nothing shows what they did. */
  readonly unknown: number;
  readonly sessions: number;
}

/**
 * Submits a write until the service has taken it, and gives its value. It is repeated only where the attempt before it is
 * known to have done nothing, or where sending it again does no harm; the attempt says which.
 */
export async function submit<Value>(
  { attempt, timeout, isSpent, exhausted, pause }: Write<Value>,
  { clock, stopping }: Pick<ApplyContext, "clock" | "stopping">,
): Promise<Value> {
  const deadline = clock.now() + timeout;
  let spent: Spent = { refusals: 0, unknown: 0, sessions: 0 };
  for (;;) {
    stopping.throwIfAborted();
    const last = await attempt();
    if (last.is === "accepted") return last.value;
    const isLate = last.endedAt >= deadline;
    spent = spentBy(spent, last, isLate);
    if (isSpent(spent, isLate)) throw isLate ? asTimeUp(exhausted(last, spent)) : exhausted(last, spent);
    const wanted = pause?.(last, spent) ?? 0;
    if (wanted > 0) await clock.sleep(wanted, stopping);
  }
}

function spentBy(spent: Spent, { is, error, isInProgress }: Failed, isLate: boolean): Spent {
  const isRefusal = (isLate || !retryable.includes(error.failure)) && isInProgress !== true;
  return {
    refusals: spent.refusals + (isRefusal ? 1 : 0),
    unknown: spent.unknown + (is === "unknown" ? 1 : 0),
    sessions: spent.sessions + (error.failure === "unauthorized" ? 1 : 0),
  };
}

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
export const retryable: readonly string[] = ["busy", "rate-limited"];
