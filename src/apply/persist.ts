import { isServiceError } from "../model/errors.ts";
import type { Live } from "../model/observed.ts";
import type { ApplyContext } from "./context.ts";

/** What to do after a refused or lost write on an object that exists: send it again, or take it as accepted. */
export type Verdict = "again" | "accepted";

/**
 * Sends a write upon an existing object until the service has taken it. An operation in progress is waited out, a
 * refusal that a passing status may have caused is tried again, and a lost answer is sent again only after a look:
 * `look` resolves with what is there now and throws where nothing more is to be done.
 *
 * `after` is told whether any request so far may have worked. Resolves with the last look, where there was one: how it
 * was when the service took it.
 */
export async function persist(
  send: () => Promise<void>,
  after: (live: Live | undefined, mayHaveWorked: boolean) => Verdict,
  look: () => Promise<Live | undefined>,
  timeout: number,
  context: ApplyContext,
): Promise<Live | undefined> {
  const started = context.clock.now();
  let refusals = 0;
  let mayHaveWorked = false;
  let live: Live | undefined;
  let pause = context.profile.timing.poll.first * 2;
  for (;;) {
    context.stopping.throwIfAborted();
    try {
      await send();
      return live;
    } catch (error) {
      if (!isServiceError(error) || context.aborting.aborted || !isPassing(error.failure)) throw error;
      const expired = context.clock.now() - started >= timeout;
      await context.clock.sleep(error.retryAfter ?? pause, context.stopping);
      pause = Math.min(pause * 2, context.profile.timing.poll.longest);
      live = await look();
      mayHaveWorked ||= error.mayHaveWorked;
      if (after(live, mayHaveWorked) === "accepted") return live;
      const settled = live?.phase.is !== "pending";
      if (error.failure !== "busy" && settled) refusals += 1;
      if (expired || refusals >= 6) throw error;
    }
  }
}

function isPassing(failure: string): boolean {
  return ["busy", "conflict", "unavailable", "lost", "rate-limited", "shape"].includes(failure);
}
