import type { Clock } from "../../src/model/clock.ts";
import { chance } from "./chance.ts";

/** Time that moves only when nothing else can happen, and chance that a seed decides. */
export interface VirtualClock extends Clock {
  /**
   * Runs until the promise settles and hands on how it did. Whenever all work is at rest, time jumps to the next timer.
   * Rejects where no timer is left: the promise waits for something that will never happen.
   */
  drive<T>(promise: Promise<T>): Promise<T>;
}

interface Timer {
  readonly at: number;
  /** Decides among timers of one moment. */
  readonly turn: number;
  readonly fire: () => void;
}

/** A clock that starts at `start` (ms since 1970). One seed is one order of events, however often it is run. */
export function virtualClock(seed = 1, start: number = Date.UTC(2026, 0, 1)): VirtualClock {
  const random = chance(seed).next;
  const timers = new Set<Timer>();
  let now = start;
  return {
    now: () => now,
    random,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const stop = (): void => {
          timers.delete(timer);
          reject(signal?.reason);
        };
        const fire = (): void => {
          signal?.removeEventListener("abort", stop);
          resolve();
        };
        const timer: Timer = { at: now + Math.max(0, ms), turn: random(), fire };
        timers.add(timer);
        signal?.addEventListener("abort", stop, { once: true });
      }),
    async drive(promise) {
      let settled = false;
      const settle = (): void => {
        settled = true;
      };
      promise.then(settle, settle);
      for (;;) {
        await atRest();
        if (settled) return promise;
        const next = earliest(timers);
        if (next === undefined) throw new Error("nothing is left that could happen");
        timers.delete(next);
        now = next.at;
        next.fire();
      }
    },
  };
}

/** Every microtask has run when the event loop takes its next turn. */
function atRest(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function earliest(timers: ReadonlySet<Timer>): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers) {
    const sooner =
      first === undefined || timer.at < first.at || (timer.at === first.at && timer.turn < first.turn);
    if (sooner) first = timer;
  }
  return first;
}

/** A clock whose sleeps end at once and move the time: for one thing that waits alone. */
export function jumpingClock(start: number): Clock {
  let now = start;
  return {
    now: () => now,
    random: () => 0.5,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      now += Math.max(0, ms);
    },
  };
}
