import { GraphformError, isServiceError, type ServiceError } from "../model/errors.ts";
import type { Live } from "../model/observed.ts";
import type { ApplyContext } from "./context.ts";

/**
 * What to do after a refused or lost write on an object that exists: send it again, take it as accepted, or look once
 * more. `unproven`: nothing that is shown could tell whether it has worked.
 */
export type Verdict = "again" | "accepted" | "wait" | "unproven";

/** What is known of the requests so far. */
export interface Sent {
  /** Whether any of them may have worked. */
  readonly mayHaveWorked: boolean;
  /** How long ago the last one ended, in ms. */
  readonly ago: number;
}

/** How often a write is sent at most while answers are lost and nothing shows whether it has worked. */
const unprovenAtMost = 2;

/**
 * Sends a write upon an existing object until the service has taken it. An operation in progress is waited out, a
 * refusal that a passing status may have caused is tried again, and a lost answer is sent again only after a look:
 * `look` resolves with what is there now and throws where nothing more is to be done; a look that fails for now is
 * repeated while there is time.
 *
 * Resolves with the last look, where there was one: how it was when the service took it. Throws `outcome-unknown` where
 * nobody can tell whether it has worked.
 */
export async function persist(
  send: () => Promise<void>,
  after: (live: Live | undefined, sent: Sent) => Verdict,
  look: () => Promise<Live | undefined>,
  timeout: number,
  context: ApplyContext,
): Promise<Live | undefined> {
  const started = context.clock.now();
  const isExpired = (): boolean => context.clock.now() - started >= timeout;
  const rest = pauses(context);
  const so = { refusals: 0, unproven: 0, mayHaveWorked: false };
  let live: Live | undefined;
  for (;;) {
    context.stopping.throwIfAborted();
    try {
      await send();
      return live;
    } catch (error) {
      if (!isServiceError(error) || context.aborting.aborted || !isPassing(error)) throw error;
      so.mayHaveWorked ||= error.mayHaveWorked;
      const ended = context.clock.now();
      const expired = isExpired();
      await rest(error.retryAfter);
      const judge = (seen: Live | undefined): Verdict =>
        after(seen, { mayHaveWorked: so.mayHaveWorked, ago: context.clock.now() - ended });
      const found = await lookUntil(judge, look, rest, isExpired, context);
      if (found === undefined) throw unknownIf(so.mayHaveWorked, error);
      live = found.live;
      if (found.verdict === "accepted") return live;
      if (found.verdict === "unproven") so.unproven += 1;
      if (error.failure !== "busy" && live?.phase.is !== "pending") so.refusals += 1;
      if (expired || so.refusals >= 6 || so.unproven >= unprovenAtMost)
        throw unknownIf(error.mayHaveWorked || so.unproven > 0, error);
    }
  }
}

type Rest = (asked?: number) => Promise<void>;

/** Pauses that grow; one that the service asks for is kept as it is. */
function pauses({ clock, profile, stopping }: ApplyContext): Rest {
  let pause = profile.timing.poll.first * 2;
  return async (asked) => {
    await clock.sleep(asked ?? pause, stopping);
    pause = Math.min(pause * 2, profile.timing.poll.longest);
  };
}

/** Looks until what is there allows a decision; undefined where the time is up before. */
async function lookUntil(
  judge: (live: Live | undefined) => Verdict,
  look: () => Promise<Live | undefined>,
  rest: Rest,
  isExpired: () => boolean,
  context: ApplyContext,
): Promise<{ readonly live: Live | undefined; readonly verdict: Verdict } | undefined> {
  for (;;) {
    const seen = await look().catch((failed: unknown) => passing(failed, context));
    if (!isServiceError(seen)) {
      const verdict = judge(seen);
      if (verdict !== "wait") return { live: seen, verdict };
    }
    if (isExpired()) return undefined;
    await rest();
  }
}

/** The look's failure, where it will pass. Throws where it will not. */
function passing(failed: unknown, { stopping }: ApplyContext): ServiceError {
  if (isServiceError(failed) && !stopping.aborted && isPassing(failed)) return failed;
  throw failed;
}

function isPassing({ failure }: ServiceError): boolean {
  return ["busy", "conflict", "unavailable", "lost", "rate-limited", "shape"].includes(failure);
}

/** What was sent and never answered: the next run finds out. */
function unknownIf(mayHaveWorked: boolean, error: ServiceError): Error {
  if (!mayHaveWorked) return error;
  return new GraphformError("outcome-unknown", `nobody knows whether it was done: ${error.message}`, {
    hint: "look at it, and run the command again: what has not worked is planned again",
    cause: error,
  });
}
