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
  readonly seed: number;
  readonly schedules: number;
  /** Stop at that many broken promises. Default 1. */
  readonly most?: number;
  /** Told after every schedule. */
  readonly tell?: (haul: Haul) => void;
}

/** Plays the cases of consecutive seeds and collects those that break a promise. */
export async function hunt({ seed, schedules, most = 1, tell }: Hunt): Promise<Haul> {
  const found: { readonly seed: number; readonly violation: Violation }[] = [];
  let haul: Haul = { schedules: 0, runs: 0, events: 0, time: 0, found };
  // Thousands of errors are made and caught, and nobody reads where.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    for (let at = 0; at < schedules && found.length < most; at++) {
      const { violation, runs, events, time } = await simulate(generate(seed + at));
      if (violation !== undefined) found.push({ seed: seed + at, violation });
      haul = {
        schedules: at + 1,
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
