/** @module Limits requests by a bucket that fills steadily, for each token and for each address without one. */

/** Requests a second, and as many as may come at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Buckets that are remembered; beyond it the oldest is forgotten. */
const most = 10_000;

/** Returns a function that takes one from the bucket of a key: 0, or the seconds after which there is one again. */
export function rateLimit(
  { perSecond, burst }: Rate,
  now: () => number = () => performance.now(),
): (key: string) => number {
  const buckets = new Map<string, { left: number; at: number }>();
  return (key) => {
    const at = now();
    const known = buckets.get(key) ?? { left: burst, at };
    const left = Math.min(burst, known.left + ((at - known.at) / 1000) * perSecond);
    buckets.delete(key);
    buckets.set(key, { left: left < 1 ? left : left - 1, at });
    const [oldest] = buckets.keys();
    if (buckets.size > most && oldest !== undefined) buckets.delete(oldest);
    return left < 1 ? Math.ceil((1 - left) / perSecond) : 0;
  };
}
