/** @module Builds the write for an existing object. If the answer is unclear, a read decides whether the write worked. */
import { GraphformError, isGraphformError, isServiceError, type ServiceError } from "../../model/errors.ts";
import { asTimeUp } from "../../model/time-limit.ts";
import { poll } from "../../polling/poll.ts";
import type { ApplyContext } from "../context.ts";
import type { Attempts, Evidence } from "../evidence/unconfirmed-write.ts";
import { type Attempt, asServiceError, type Spent, type Write } from "./submit.ts";

/** A change of something that exists, and the look that shows its effect if the answer does not. */
export interface Change<Seen, Value> {
  /** Name for messages: the operation and the id, `update of ID`. */
  readonly what: string;
  /** Sends the request once. */
  readonly send: () => Promise<Value>;
  /** One look at what the change would have changed. */
  readonly look: () => Promise<Seen>;
  /** The evidence that a look gives about the attempts so far. */
  readonly evaluate: (seen: Seen, attempts: Attempts) => Evidence<Value>;
  /** Longest time for all of it, in ms. */
  readonly timeout: number;
}

/** A change that the service has taken. */
export interface Submitted<Seen, Value> {
  readonly value: Value;
  /** The last look, if there was one: how it was when the service took the change. */
  readonly seen?: Seen;
  /** False if an earlier attempt may have been the one that worked. */
  readonly isFirst: boolean;
}

type ChangeContext = Pick<ApplyContext, "clock" | "profile" | "stopping" | "aborting" | "hide">;

const most: Spent = { refusals: 6, unknown: 2, sessions: 2 };

/**
 * Makes the write of a change. It is repeated after a look in three cases: another operation is in progress, the status may
 * have caused the refusal, or the answer was lost and the look shows no effect. An attempt throws the refusal if
 * repeating is no use, and `outcome-unknown` if nothing shows whether the change has worked.
 */
export function changeWrite<Seen, Value>(
  change: Change<Seen, Value>,
  context: ChangeContext,
): Write<Submitted<Seen, Value>> {
  const { clock, profile, stopping, aborting } = context;
  const deadline = clock.now() + change.timeout;
  let seen: { readonly seen?: Seen } = {};
  let mayHaveWorked = false;
  let pause = 2 * profile.timing.poll.first;
  const attempt = async (): Promise<Attempt<Submitted<Seen, Value>>> => {
    clock.startLimit?.();
    try {
      const value = await change.send();
      return { is: "accepted", value: { value, ...seen, isFirst: !mayHaveWorked } };
    } catch (thrown) {
      // An error of our own, not of a request: nothing was sent.
      if (isGraphformError(thrown) && !isServiceError(thrown)) throw thrown;
      const error = asServiceError(thrown, change.what, context);
      if (aborting.aborted || !isPassing(error)) throw thrown;
      mayHaveWorked ||= error.mayHaveWorked;
      const endedAt = clock.now();
      await clock.sleep(error.retryAfter ?? pause, stopping);
      pause = Math.min(2 * pause, profile.timing.poll.longest);
      const looked = await evidenceOf(
        change,
        { mayHaveWorked, endedAt, failure: error.failure },
        deadline,
        context,
      );
      if (looked === undefined) throw asTimeUp(unknownIf(mayHaveWorked, error));
      seen = { seen: looked.seen };
      const { evidence } = looked;
      if (evidence.is === "accepted")
        return { is: "accepted", value: { value: evidence.value, ...seen, isFirst: false } };
      const is = evidence.is === "unproven" ? "unknown" : "rejected";
      return { is, error, endedAt, isInProgress: evidence.is === "in-progress" };
    }
  };
  return {
    attempt,
    timeout: change.timeout,
    isSpent: ({ refusals, unknown, sessions }, isLate) =>
      isLate || refusals >= most.refusals || unknown >= most.unknown || sessions >= most.sessions,
    exhausted: ({ error }, { unknown }) => unknownIf(error.mayHaveWorked || unknown > 0, error),
  };
}

/** Looks until there is evidence; undefined if the time is up before. */
async function evidenceOf<Seen, Value>(
  { look, evaluate }: Change<Seen, Value>,
  attempts: Attempts,
  deadline: number,
  context: Pick<ApplyContext, "clock" | "profile" | "stopping">,
): Promise<Looked<Seen, Value> | undefined> {
  const polled = await poll(
    {
      look,
      evaluate: (seen): Looked<Seen, Value> | undefined => {
        const evidence = evaluate(seen, attempts);
        return evidence.is === "wait" ? undefined : { seen, evidence };
      },
      deadline: Math.max(deadline, context.clock.now()),
    },
    context,
  );
  return polled.is === "decided" ? polled.verdict : undefined;
}

interface Looked<Seen, Value> {
  readonly seen: Seen;
  readonly evidence: Evidence<Value>;
}

/** Failures after which the same request may be taken. */
function isPassing({ failure }: ServiceError): boolean {
  return ["busy", "conflict", "unavailable", "unauthorized", "lost", "rate-limited", "shape"].includes(
    failure,
  );
}

function unknownIf(mayHaveWorked: boolean, error: ServiceError): Error {
  if (!mayHaveWorked) return error;
  return new GraphformError("outcome-unknown", `it is not known whether this was done: ${error.message}`, {
    hint: "look at it, and run the command again: what has not worked is planned again",
    cause: error,
  });
}
