/** @module Polls until a verdict is reached or the time is up; the loop of all looks at the service. */
import type { Clock } from "../model/clock.ts";
import { isServiceError, type ServiceError, type ServiceFailure } from "../model/errors.ts";
import type { Profile } from "../model/service.ts";

export interface PollTimes {
  readonly clock: Clock;
  readonly profile: { readonly timing: Pick<Profile["timing"], "poll"> };
  readonly stopping: AbortSignal;
}

/** The parts of a run that looks for an object need. */
export interface PollContext extends PollTimes {
  readonly profile: Pick<Profile, "timing">;
}

/** One polling: the look, the verdict, the schedule. Times are ms since 1970. */
export interface Polling<Seen, Verdict> {
  /** One look. A look that fails for now is repeated; any other error ends the polling. */
  readonly look: () => Promise<Seen>;
  /** The verdict; undefined to look again. */
  readonly evaluate: (seen: Seen) => Verdict | undefined;
  /** Without one it looks until there is a verdict. */
  readonly deadline?: number;
  /** The earliest time at which the next look can bring anything; asked again when that time has come. */
  readonly notBefore?: () => number;
  /** Called before each pause; `failure` is that of a look that failed for now. */
  readonly onPause?: (failure: Error | undefined) => void;
}

const growth = 1.5;
/** A 403 may pass, as long as new rights are not known everywhere: so many in a row are looked past. */
const mostForbidden = 2;

/** Looks until `evaluate` has a verdict; undefined once the deadline has passed. Pauses grow, with jitter. Rejects as `stopping` does. */
export async function poll<Seen, Verdict>(
  { look, evaluate, deadline = Number.POSITIVE_INFINITY, notBefore, onPause }: Polling<Seen, Verdict>,
  { clock, profile, stopping }: PollTimes,
): Promise<Verdict | undefined> {
  const { first, longest } = profile.timing.poll;
  let forbidden = 0;
  for (let pause = first; ; ) {
    stopping.throwIfAborted();
    const seen = await attempt(look, stopping);
    forbidden = "failure" in seen && isServiceError(seen.failure, "forbidden") ? forbidden + 1 : 0;
    if ("failure" in seen && forbidden > mostForbidden) throw seen.failure;
    const verdict = "failure" in seen ? undefined : evaluate(seen.seen);
    if (verdict !== undefined) return verdict;
    const left = deadline - clock.now();
    if (left <= 0) return undefined;
    onPause?.("failure" in seen ? seen.failure : undefined);
    const early = (notBefore?.() ?? 0) - clock.now();
    const wanted = Math.max(early, pause * (0.8 + 0.4 * clock.random()));
    await clock.sleep(Math.min(left, wanted), stopping);
    if (early <= 0) pause = Math.min(longest, pause * growth);
    const putOff = (): number => Math.min(deadline, notBefore?.() ?? 0) - clock.now();
    for (let more = putOff(); more > 0; more = putOff()) await clock.sleep(more, stopping);
  }
}

async function attempt<Seen>(
  look: () => Promise<Seen>,
  stopping: AbortSignal,
): Promise<{ readonly seen: Seen } | { readonly failure: Error }> {
  try {
    return { seen: await look() };
  } catch (error) {
    if (stopping.aborted) throw stopping.reason;
    if (isPassing(error) || isServiceError(error, "forbidden")) return { failure: error };
    throw error;
  }
}

/** True for the failure of a read that may be over at the next look. */
export function isPassing(error: unknown): error is ServiceError {
  return isServiceError(error) && passing.includes(error.failure);
}

const passing: readonly ServiceFailure[] = ["unavailable", "lost", "rate-limited", "shape", "busy"];

/** The most reads that are begun: more than may be in flight. Ten thousand that wait would hold more memory than their answers. */
const atOnce = 1000;

/** Does work for each item, for at most a thousand at once. The results are in the order of the items. */
export async function forEachItem<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = new Array(items.length);
  const rest = items.entries();
  const workOn = async (): Promise<void> => {
    for (const [at, item] of rest) results[at] = await work(item);
  };
  await Promise.all(items.slice(0, atOnce).map(workOn));
  return results;
}
