/** @module Shares one running piece of work among all callers; each of them may stop waiting for it. */

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

/**
 * Rejects with the reason of the signal as soon as it is aborted; `shared` goes on for other callers. Registers one listener
 * for each signal: a thousand listeners on one signal are slow.
 */
export function orAborted<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const waiters = waitersOf(signal);
    waiters.add(reject);
    shared.then(resolve, reject).finally(() => waiters.delete(reject));
  });
}

const waitersBySignal = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>();

function waitersOf(signal: AbortSignal): Set<(reason: unknown) => void> {
  const known = waitersBySignal.get(signal);
  if (known !== undefined) return known;
  const waiters = new Set<(reason: unknown) => void>();
  const leaveAll = (): void => {
    for (const leave of waiters) leave(signal.reason);
  };
  waitersBySignal.set(signal, waiters);
  signal.addEventListener("abort", leaveAll, { once: true });
  return waiters;
}
