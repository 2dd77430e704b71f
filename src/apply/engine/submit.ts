/** @module Sends a write until the service has taken it; the only function that repeats writes. */
import {
  asError,
  GraphformError,
  isGraphformError,
  isServiceError,
  ServiceError,
  type ServiceFailure,
} from "../../model/errors.ts";
import { asTimeUp } from "../../model/time-limit.ts";
import { poll } from "../../polling/poll.ts";
import type { ApplyContext } from "../context.ts";
import type { Attempts, Evidence } from "../evidence/operation.ts";

/** Refusals that mean "not now": such a request is repeated until the time is up. */
const notNow: readonly ServiceFailure[] = ["busy", "rate-limited"];

/** Failures after which a write may be sent again, once its effect is known. A create by these alone, a change by `conflict` too. */
export const mayPass: readonly ServiceFailure[] = [
  ...notNow,
  ...(["unavailable", "unauthorized", "lost", "shape"] as const),
];

/** The end of one attempt, from evidence: the write has worked, it did nothing, or nothing shows what it did. */
export type Attempt<Value> = { readonly is: "accepted"; readonly value: Value } | Failed;

export interface Failed {
  readonly is: "rejected" | "unknown";
  readonly error: ServiceError;
  /** When the attempt ended, in ms since 1970. If that is past the deadline, the write is not repeated. */
  readonly endedAt: number;
  /** True if another operation was seen in progress: that explains the refusal. */
  readonly isInProgress?: boolean;
}

export interface Write<Value> {
  /** Sends the request once, and finds out its effect. Throws if a repetition cannot succeed. */
  readonly attempt: () => Promise<Attempt<Value>>;
  /** Longest time for all of it, in ms. After that, "not now" counts as a refusal. */
  readonly timeout: number;
  /** True if the write is not to be sent again. `isLate`: the time is up. */
  readonly isSpent: (spent: Spent, isLate: boolean) => boolean;
  /** The error of a write that is not sent again. */
  readonly exhausted: (last: Failed, spent: Spent) => Error;
  /** Pause before the next attempt, in ms; none if the search for the effect was pause enough. */
  readonly pause?: (last: Failed, spent: Spent) => number;
}

export interface Spent {
  /** Refusals and lost answers; those that say "not now" do not count before the time is up. */
  readonly refusals: number;
  /** Attempts whose effect is not known. */
  readonly unknown: number;
  readonly sessions: number;
}

/** Submits a write until the service has taken it. It is repeated only if the attempt before did nothing, or if repeating does no harm. */
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
  const isRefusal = (isLate || !notNow.includes(error.failure)) && isInProgress !== true;
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

/** A change of an existing object, and the look that shows its effect if the answer does not. */
export interface ObjectChange<Seen, Value> {
  /** Name for messages: the operation and the id, `update of ID`. */
  readonly what: string;
  /** Sends the request once. */
  readonly send: () => Promise<Value>;
  /** One read of the values that the change would set. */
  readonly look: () => Promise<Seen>;
  /** The evidence that a look gives about the attempts so far. */
  readonly evaluate: (seen: Seen, attempts: Attempts) => Evidence<Value>;
  /** Longest time for all of it, in ms. */
  readonly timeout: number;
}

interface Submitted<Seen, Value> {
  readonly value: Value;
  /** The last look before the service accepted the change, if there was one. */
  readonly seen?: Seen;
  /** False if an earlier attempt may have been the one that worked. */
  readonly isFirst: boolean;
}

export type ChangeContext = Pick<ApplyContext, "clock" | "profile" | "stopping" | "aborting" | "hide">;

const most: Spent = { refusals: 6, unknown: 2, sessions: 2 };

/**
 * Submits the change of an existing object. It is repeated after a look if another operation is in progress, if the status may have caused
 * the refusal, or if the answer was lost and the look shows no effect. Otherwise throws the refusal, or `outcome-unknown` if nothing shows
 * whether the change has worked.
 */
export function submitChange<Seen, Value>(
  { what, send, look, evaluate, timeout }: ObjectChange<Seen, Value>,
  context: ChangeContext,
): Promise<Submitted<Seen, Value>> {
  const { clock, profile, stopping, aborting } = context;
  const deadline = clock.now() + timeout;
  let seen: { readonly seen?: Seen } = {};
  let mayHaveWorked = false;
  let pause = 2 * profile.timing.poll.first;
  const attempt = async (): Promise<Attempt<Submitted<Seen, Value>>> => {
    // The time of --timeout runs from the first request.
    clock.startLimit?.();
    try {
      const value = await send();
      return { is: "accepted", value: { value, ...seen, isFirst: !mayHaveWorked } };
    } catch (thrown) {
      // An error of our own, not of a request: nothing was sent.
      if (isGraphformError(thrown) && !isServiceError(thrown)) throw thrown;
      const error = asServiceError(thrown, what, context);
      if (aborting.aborted || !(error.failure === "conflict" || mayPass.includes(error.failure)))
        throw thrown;
      mayHaveWorked ||= error.mayHaveWorked;
      const attempts = { mayHaveWorked, endedAt: clock.now(), failure: error.failure };
      await clock.sleep(error.retryAfter ?? pause, stopping);
      pause = Math.min(2 * pause, profile.timing.poll.longest);
      const proves = (now: Seen): Exclude<Evidence<Value>, { readonly is: "wait" }> | undefined => {
        seen = { seen: now };
        const evidence = evaluate(now, attempts);
        return evidence.is === "wait" ? undefined : evidence;
      };
      const verdict = await poll(
        { look, evaluate: proves, deadline: Math.max(deadline, clock.now()) },
        context,
      );
      if (verdict === undefined) throw asTimeUp(unknownIf(mayHaveWorked, error));
      if (verdict.is === "accepted")
        return { is: "accepted", value: { value: verdict.value, ...seen, isFirst: false } };
      const is = verdict.is === "unproven" ? "unknown" : "rejected";
      return { is, error, endedAt: attempts.endedAt, isInProgress: verdict.is === "in-progress" };
    }
  };
  const isSpent: Write<never>["isSpent"] = ({ refusals, unknown, sessions }, isLate) =>
    isLate || refusals >= most.refusals || unknown >= most.unknown || sessions >= most.sessions;
  const exhausted: Write<never>["exhausted"] = ({ error }, { unknown }) =>
    unknownIf(error.mayHaveWorked || unknown > 0, error);
  return submit({ attempt, timeout, isSpent, exhausted }, context);
}

function unknownIf(mayHaveWorked: boolean, error: ServiceError): Error {
  if (!mayHaveWorked) return error;
  return new GraphformError("outcome-unknown", `it is not known whether this was done: ${error.message}`, {
    hint: "look at it, and run the command again: changes that failed are planned again",
    cause: error,
  });
}
