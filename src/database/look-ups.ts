/** @module Shares DNS look-ups among all callers. */
import type { LookupAddress } from "node:dns";

/** The addresses of a name. */
export type Addresses = readonly LookupAddress[];

/** Asks the system for the addresses of one name, however long it takes. */
export type LookUp = (name: string) => Promise<Addresses>;

/** Look-ups that all callers share. */
export interface LookUps {
  /** Rejects with the failure of the look-up, or with the reason of the signal as soon as it is aborted. */
  addressesOf(name: string, signal: AbortSignal): Promise<Addresses>;
}

interface Asked {
  readonly answer: Promise<Addresses>;
  readonly settle: (answer: Promise<Addresses>) => void;
  /** Number of callers that wait for it. */
  waiting: number;
}

/**
 * Shares look-ups: a name is asked for once, however many wait for it, at most `atOnce` names are asked for together, and
 * an answer, a failure too, is kept for `hold` ms after it came. A look-up that has begun goes on when nobody waits any
 * more, so that a slow answer is there for the next caller; one that has not begun never begins.
 */
export function shareLookUps(lookUp: LookUp, now: () => number, atOnce: number, hold: number): LookUps {
  const queued = new Map<string, Asked>();
  const running = new Map<string, Asked>();
  const answered = new Map<string, { readonly answer: Promise<Addresses>; readonly until: number }>();

  const begin = (): void => {
    for (const [name, asked] of queued) {
      if (running.size >= atOnce) return;
      queued.delete(name);
      running.set(name, asked);
      const answer = lookUp(name);
      asked.settle(answer);
      const end = (): void => {
        running.delete(name);
        forget();
        answered.set(name, { answer, until: now() + hold });
        begin();
      };
      answer.then(end, end);
    }
  };
  const forget = (): void => {
    for (const [name, { until }] of answered) if (until <= now()) answered.delete(name);
  };
  const ask = (name: string): Asked => {
    const known = running.get(name) ?? queued.get(name);
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<Addresses>();
    promise.catch(() => undefined);
    const asked: Asked = { answer: promise, settle: resolve, waiting: 0 };
    queued.set(name, asked);
    return asked;
  };

  return {
    async addressesOf(name, signal): Promise<Addresses> {
      signal.throwIfAborted();
      forget();
      const held = answered.get(name);
      if (held !== undefined) return held.answer;
      const asked = ask(name);
      asked.waiting += 1;
      const aborted = Promise.withResolvers<never>();
      const abort = (): void => aborted.reject(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      begin();
      try {
        return await Promise.race([asked.answer, aborted.promise]);
      } finally {
        signal.removeEventListener("abort", abort);
        asked.waiting -= 1;
        if (asked.waiting === 0 && queued.get(name) === asked) queued.delete(name);
      }
    },
  };
}
