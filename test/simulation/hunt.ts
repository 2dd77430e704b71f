import { generate } from "./generate.ts";
import type { Violation } from "./oracle.ts";
import { simulate } from "./simulate.ts";

/** What many schedules came to. */
export interface Haul {
  readonly schedules: number;
  readonly runs: number;
  readonly events: number;
  /** Virtual ms. */
  readonly time: number;
  readonly found: readonly { readonly seed: number; readonly violation: Violation }[];
}

export interface Hunt {
  /** The first one of a row. */
  readonly seed: number;
  /** A seed that is played before the row. */
  readonly before?: number;
  readonly schedules: number;
  /** Stop at that many broken promises. Default 1. */
  readonly most?: number;
  /** Told after every schedule. */
  readonly tell?: (haul: Haul) => void;
}

/** Plays so many cases of consecutive seeds and collects those that break a promise. */
export async function hunt({ seed, before, schedules, most = 1, tell }: Hunt): Promise<Haul> {
  const found: { readonly seed: number; readonly violation: Violation }[] = [];
  const row = Array.from({ length: schedules }, (_, at) => seed + at);
  const seeds = before === undefined ? row : [before, ...row];
  let haul: Haul = { schedules: 0, runs: 0, events: 0, time: 0, found };
  // Thousands of errors are made and caught, and nobody reads where.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    for (const each of seeds) {
      if (found.length >= most) break;
      const { violation, runs, events, time } = await simulate(generate(each));
      if (violation !== undefined) found.push({ seed: each, violation });
      haul = {
        schedules: haul.schedules + 1,
        runs: haul.runs + runs,
        events: haul.events + events,
        time: haul.time + time,
        found,
      };
      tell?.(haul);
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return haul;
}
