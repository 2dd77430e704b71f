/** Requests counted by address in windows of one minute. */
export interface RateLimit {
  /** Seconds until the window ends when this request is one too many; undefined when it may pass. */
  exceeded(address: string): number | undefined;
}

const windowMs = 60_000;

/** `elapsed` gives milliseconds that only grow: a clock that is set back would keep a window open for days. */
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
