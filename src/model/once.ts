/** @module Computes a value once for each object or text, and shares one running piece of work among all callers. */
/** Starts `work` unless it is running, and returns the promise of the running one. It gets what its first caller gives. */
export function singleFlight<T, Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<T>,
): (...given: Given) => Promise<T> {
  let underWay: Promise<T> | undefined;
  return (...given) => {
    underWay ??= work(...given).finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/** Like `singleFlight`, but keeps the first result; a failure is not kept. */
export function memoizeAsync<T, Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<T>,
): (...given: Given) => Promise<T> {
  let kept: { readonly result: T } | undefined;
  return singleFlight(async (...given) => {
    kept ??= { result: await work(...given) };
    return kept.result;
  });
}

/** Rejects when the signal is aborted; `shared` goes on for other callers. */
export function orAborted<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    shared.then(resolve, reject).finally(onAbort(signal, reject));
  });
}

/** Calls `leave` with the reason once the signal is aborted, until the returned function is called. One listener a signal: a thousand on one are slow. */
export function onAbort(signal: AbortSignal, leave: (reason: unknown) => void): () => void {
  const waiters = waitersOf(signal);
  waiters.add(leave);
  return () => void waiters.delete(leave);
}

const waitersOf = perObject((signal: AbortSignal) => {
  const waiters = new Set<(reason: unknown) => void>();
  const leaveAll = (): void => {
    for (const leave of waiters) leave(signal.reason);
  };
  signal.addEventListener("abort", leaveAll, { once: true });
  return waiters;
});

/** Returns a function that keeps the result of `make` as long as the object lives. */
export function perObject<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly made: V }>();
  return (key) => {
    const kept = known.get(key);
    if (kept !== undefined) return kept.made;
    const made = make(key);
    known.set(key, { made });
    return made;
  };
}

/** The same for texts of which there are few, such as the paths of a profile. */
export function perText<V>(make: (text: string) => V): (text: string) => V {
  const known = new Map<string, { readonly made: V }>();
  return (text) => {
    const kept = known.get(text) ?? { made: make(text) };
    known.set(text, kept);
    return kept.made;
  };
}
