/** @module Supplies time and randomness, so that tests and the simulator control both, and reads times of the service. */
import { onAbort } from "./once.ts";

export interface Clock {
  /** Now, in ms since 1970. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A number in [0, 1), for jitter. */
  random(): number;
  /** Starts the count of the time that the waits of one step may take together, if it is limited. */
  readonly startLimit?: () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(() => {
        letGo?.();
        resolve();
      }, ms);
      const letGo =
        signal &&
        onAbort(signal, (reason) => {
          clearTimeout(timer);
          reject(reason);
        });
    }),
};

/** Calls `work` after `ms`, unless the returned function is called before. Does not keep the process alive. */
export function callAfter(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms).unref();
  return () => clearTimeout(timer);
}

/** A time as a service writes it, in ms since 1970; UTC if it has no zone. Undefined for a text that is not a time, and for the year 1. */
export function serviceTime(text: string | undefined): number | undefined {
  const bare = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)$/.exec(text ?? "");
  const time = Date.parse(bare === null ? (text ?? "") : `${bare[1]}T${bare[2]}Z`);
  return Number.isNaN(time) || time < earliest ? undefined : time;
}

/** No object of a hosting service is older. */
const earliest = Date.UTC(2000, 0);
