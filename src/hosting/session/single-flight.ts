/** @module Shares one piece of work among everybody who asks for it while it is under way. */

/** Starts the work where none is under way, and hands its result to everybody who asked meanwhile. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
