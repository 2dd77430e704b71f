/** @module Ends the waits of a run when the longest time that it may wait is up. */
import type { Clock } from "./clock.ts";
import { exitCodes, GraphformError, isGraphformError, isServiceError, withEvidence } from "./errors.ts";
import { own } from "./json.ts";
import type { Step } from "./plan.ts";
import { formatDuration } from "./quantity.ts";
import type { Profile } from "./service.ts";
import type { Durations } from "./state.ts";

/** Hint of every error of a wait that the limit has ended. */
export const waitLonger = "run it again to go on waiting, or allow more with --timeout";

/** The limit in words: `the 10 s that --timeout allows`. */
export function limitWords(patience: number): string {
  return `the ${patience < 1000 ? `${patience} ms` : formatDuration(patience)} that --timeout allows`;
}

/** True for the error of a wait that the limit has ended (exit 7): the operation goes on at the service. */
export function isTimeUp(error: unknown): error is GraphformError {
  return isGraphformError(error) && error.exitCode === exitCodes.converging;
}

/** The same error of something that was tried until its time was up: exit 7. */
export function asTimeUp(error: Error): Error {
  const { converging: exitCode } = exitCodes;
  if (isServiceError(error)) return withEvidence(error, { exitCode });
  if (!isGraphformError(error)) return error;
  const { code, message, hint = waitLonger } = error;
  return new GraphformError(code, message, { exitCode, hint, cause: error });
}

/**
 * A clock whose sleeps end `patience` ms after `since`, by default the first sleep or `startLimit`: the sleep that reaches the end rejects
 * with `time-up` (exit 7). Without `patience` the clock as it is.
 */
export function limitedClock(clock: Clock, patience: number | undefined, since?: number): Clock {
  if (patience === undefined) return clock;
  let end = since === undefined ? undefined : since + patience;
  return {
    startLimit: () => {
      end ??= clock.now() + patience;
    },
    now: () => clock.now(),
    random: () => clock.random(),
    async sleep(ms, signal) {
      end ??= clock.now() + patience;
      const left = Math.max(0, end - clock.now());
      await clock.sleep(Math.min(ms, left), signal);
      if (ms <= left) return;
      throw new GraphformError("time-up", `this has waited for ${limitWords(patience)}`, {
        exitCode: exitCodes.converging,
        hint: waitLonger,
      });
    },
  };
}

interface Limit {
  readonly clock: Pick<Clock, "sleep">;
  /** Ms; undefined: none. */
  readonly patience: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Does work within a limit; `late` makes the error of its end (exit 7). The work's signal is aborted then, and with `signal`. */
export async function withinLimit<T>(
  { clock, patience, signal }: Limit,
  work: (stop: AbortSignal) => Promise<T>,
  late: (words: string) => Error,
): Promise<T> {
  const over = new AbortController();
  const done = work(AbortSignal.any([over.signal, ...(signal === undefined ? [] : [signal])]));
  if (patience === undefined) return done;
  const end = clock.sleep(patience, over.signal).then(() => {
    throw asTimeUp(late(`no answer within ${limitWords(patience)}`));
  });
  for (const either of [done, end]) either.catch(() => undefined);
  return Promise.race([done, end]).finally(() => over.abort());
}

function durationKey(kind: string, operation: string): string {
  return `${kind}.${operation}`;
}

/** Expected ms of a step; 0 if it is unknown, and for steps that only write the state. */
export function expectedTime(
  { kind, operation, verb }: Pick<Step, "kind" | "operation" | "verb">,
  { timing }: Pick<Profile, "timing">,
  learned: Durations = {},
): number {
  if (operation === "bind" || operation === "forget" || operation === "move") return 0;
  const name = verb ?? operation;
  return own(learned, durationKey(kind, name)) ?? own(timing.expect, name) ?? 0;
}

/** The weight of a new measurement: one slow operation does not make the next forecast wrong, a slower service does soon. */
const weight = 0.3;

/** The durations with one more measurement, smoothed and in whole ms; keys are sorted. */
export function withDuration(
  known: Durations | undefined,
  kind: string,
  operation: string,
  took: number,
): Durations {
  const key = durationKey(kind, operation);
  const before = own(known ?? {}, key);
  const smoothed = before === undefined ? took : Math.round(before + weight * (took - before));
  const entries = Object.entries({ ...known, [key]: smoothed });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
