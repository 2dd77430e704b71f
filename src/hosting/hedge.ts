import type { Clock } from "../model/clock.ts";

/** Asks twice where an answer takes far longer than answers usually do. */
export interface Hedge {
  /**
   * Resolves with the first answer: that of `first`, or of `second`, which is asked once `first` is late; as long as
   * it waits to be sent, it is to give up when the signal that it gets is aborted. Rejects as `first` does, where
   * `second` was not asked or has failed too.
   */
  ask<T>(first: () => Promise<T>, second: (notNeeded: AbortSignal) => Promise<T>): Promise<T>;
}

/** Late is what takes this long, in ms, and so many times the usual. */
const late = { least: 1000, times: 4 };

/** A hedge that learns from every answer how long they take. For what may be asked twice: reads. */
export function createHedge(clock: Clock): Hedge {
  let usual = 0;
  const timed = async <T>(ask: () => Promise<T>): Promise<T> => {
    const started = clock.now();
    const answer = await ask();
    const took = clock.now() - started;
    usual = usual === 0 ? took : usual + (took - usual) / 8;
    return answer;
  };
  return {
    ask: <T>(first: () => Promise<T>, second: (notNeeded: AbortSignal) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        const over = new AbortController();
        let other: Promise<T> | undefined;
        const askAgain = (): void => {
          if (over.signal.aborted) return;
          other = timed(() => second(over.signal));
          other.then(resolve, () => undefined);
        };
        timed(first)
          .finally(() => over.abort())
          .then(resolve, (error: unknown) => {
            if (other === undefined) reject(error);
            else other.catch(() => reject(error));
          });
        clock.sleep(Math.max(late.least, late.times * usual), over.signal).then(askAgain, () => undefined);
      }),
  };
}
