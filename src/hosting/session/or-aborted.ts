/**
 * Waits for what everybody waits for, but no longer than this caller wants. One listener for each signal, however many
 * wait with it: each more is looked for among all that are there.
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
