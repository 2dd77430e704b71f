/** @module Sends a write on an existing object until the service has taken it; the only function that repeats writes but creates. */
import { GraphformError, isGraphformError, isServiceError, type ServiceError } from "../../model/errors.ts";
import type { ApplyContext } from "../context.ts";
import type { Attempts, Evidence } from "../evidence/unconfirmed-write.ts";
import { asServiceError, notNow } from "./lost-answer.ts";
import { poll } from "./poll.ts";

/** A write, and the look that shows its effect where the answer does not. */
export interface Write<Seen, Value> {
  /** Name for messages: the operation and the id, `update of ID`. */
  readonly what: string;
  /** Sends the request once. */
  readonly send: () => Promise<Value>;
  /** One look at what the write would have changed. */
  readonly look: () => Promise<Seen>;
  /** The evidence that a look gives about the attempts so far. */
  readonly evaluate: (seen: Seen, attempts: Attempts) => Evidence<Value>;
  /** Longest time for all of it, in ms. */
  readonly timeout: number;
}

/** A write that the service has taken. */
export interface Submitted<Seen, Value> {
  readonly value: Value;
  /** The last look, where there was one: how it was when the service took the write. */
  readonly seen?: Seen;
  /** False where an earlier attempt may have been the one that worked. */
  readonly isFirst: boolean;
}

/**
 * Submits a write until the service has taken it. It is repeated after a look in three cases: another operation is in
 * progress, the status may have caused the refusal, or the answer was lost and the look shows no effect. Throws the
 * refusal where repeating is no use, and `outcome-unknown` where nothing shows whether the write has worked.
 */
export async function submit<Seen, Value>(
  write: Write<Seen, Value>,
  context: Pick<ApplyContext, "clock" | "profile" | "stopping" | "aborting">,
): Promise<Submitted<Seen, Value>> {
  const { clock, profile, stopping, aborting } = context;
  const deadline = clock.now() + write.timeout;
  let spent = nothingSpent;
  let seen: Seen | undefined;
  let mayHaveWorked = false;
  for (
    let pause = 2 * profile.timing.poll.first;
    ;
    pause = Math.min(2 * pause, profile.timing.poll.longest)
  ) {
    stopping.throwIfAborted();
    try {
      const value = await write.send();
      return { value, ...(seen === undefined ? {} : { seen }), isFirst: !mayHaveWorked };
    } catch (thrown) {
      // An error of our own, not of a request: nothing was sent.
      if (isGraphformError(thrown) && !isServiceError(thrown)) throw thrown;
      const error = asServiceError(thrown, write.what);
      if (aborting.aborted || !isPassing(error)) throw thrown;
      mayHaveWorked ||= error.mayHaveWorked;
      const endedAt = clock.now();
      await clock.sleep(error.retryAfter ?? pause, stopping);
      const attempts = { mayHaveWorked, endedAt, failure: error.failure };
      const looked = await evidenceOf(write, attempts, deadline, context);
      if (looked === undefined) throw unknownIf(mayHaveWorked, error);
      const { evidence } = looked;
      seen = looked.seen;
      if (evidence.is === "accepted") return { value: evidence.value, seen, isFirst: false };
      spent = spentBy(spent, error, evidence);
      if (endedAt >= deadline || isSpent(spent))
        throw unknownIf(error.mayHaveWorked || spent.unproven > 0, error);
    }
  }
}

/** Counts of repetitions, by reason. */
interface Spent {
  readonly refusals: number;
  /** The look could not show whether the write has worked. */
  readonly unproven: number;
  readonly sessions: number;
}

const nothingSpent: Spent = { refusals: 0, unproven: 0, sessions: 0 };
const most: Spent = { refusals: 6, unproven: 2, sessions: 2 };

function spentBy(
  { refusals, unproven, sessions }: Spent,
  { failure }: ServiceError,
  { is }: Evidence<unknown>,
): Spent {
  const isRefusal = !notNow.includes(failure) && is !== "in-progress";
  return {
    refusals: refusals + (isRefusal ? 1 : 0),
    unproven: unproven + (is === "unproven" ? 1 : 0),
    sessions: sessions + (failure === "unauthorized" ? 1 : 0),
  };
}

function isSpent({ refusals, unproven, sessions }: Spent): boolean {
  return refusals >= most.refusals || unproven >= most.unproven || sessions >= most.sessions;
}

/** Looks until there is evidence; undefined where the time is up before. */
async function evidenceOf<Seen, Value>(
  { look, evaluate }: Write<Seen, Value>,
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
