/** @module Shares one running piece of work among all callers who ask for it. */

/** Starts `work` unless it is running, and returns the promise of the running one. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
