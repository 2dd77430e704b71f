/** @module Limits requests per client address and minute. */
/** A counter of requests by address, in windows of one minute. */
export interface RateLimit {
  /** Counts a request. Seconds until the window ends where it exceeds the limit; undefined where it is allowed. */
  exceeded(address: string): number | undefined;
}

const windowMs = 60_000;

/** `elapsed` gives monotonic milliseconds: a system clock that is set back would keep a window open for days. */
export function createRateLimit(perMinute: number, elapsed: () => number): RateLimit {
  const windows = new Map<string, { start: number; count: number }>();
  return {
    exceeded(address) {
      const time = elapsed();
      const known = windows.get(address);
      const current =
        known !== undefined && time - known.start < windowMs ? known : { start: time, count: 0 };
      current.count += 1;
      if (windows.size > 10_000) windows.clear();
      windows.set(address, current);
      return current.count > perMinute ? Math.ceil((current.start + windowMs - time) / 1000) : undefined;
    },
  };
}
