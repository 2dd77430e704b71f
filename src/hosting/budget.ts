import type { Clock } from "../model/clock.ts";

/** The one budget of requests in flight that everything shares. */
export interface Budget {
  /** Runs the work as soon as there is room. Rejects with the signal's reason when it is aborted while waiting. */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** The service took a request. */
  accepted(): void;
  /** The service asked for less: everyone slows down, and nobody starts before `retryAfter` ms have passed. */
  limited(retryAfter: number | undefined): void;
  /** Requests that may be in flight now; whole part counts. */
  readonly width: number;
}

const start = 16;
const most = 64;

/** First and longest pause after a refusal that names no time, in ms. */
const pauses = { first: 100, longest: 1000 };

/**
 * A budget that learns: one wider with every round that is accepted, halved by a refusal. A width that was refused is
 * remembered, and approached again only slowly. `told` fixes the width; pauses are kept all the same.
 */
export function createBudget(clock: Clock, told?: number): Budget {
  const waiting: { readonly begin: () => void; readonly signal: AbortSignal }[] = [];
  let width = told ?? start;
  let refusedAt = Number.POSITIVE_INFINITY;
  let inFlight = 0;
  let quietUntil = 0;
  let pause = pauses.first;
  let isWaking = false;

  const pump = (): void => {
    const quiet = quietUntil - clock.now();
    if (quiet > 0) {
      wake(quiet);
      return;
    }
    while (inFlight < Math.max(1, Math.floor(width))) {
      const next = waiting.shift();
      if (next === undefined) return;
      if (next.signal.aborted) continue;
      inFlight += 1;
      next.begin();
    }
  };
  const wake = (ms: number): void => {
    if (isWaking) return;
    isWaking = true;
    void clock.sleep(ms).then(() => {
      isWaking = false;
      pump();
    });
  };
  const admitted = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const giveUp = (): void => reject(signal.reason);
      signal.addEventListener("abort", giveUp, { once: true });
      const begin = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      waiting.push({ begin, signal });
      pump();
    });
  return {
    get width(): number {
      return width;
    },
    async run(work, signal) {
      await admitted(signal);
      try {
        return await work();
      } finally {
        inFlight -= 1;
        pump();
      }
    },
    accepted() {
      pause = pauses.first;
      if (told !== undefined) return;
      const step = width + 1 < refusedAt ? 1 / width : 1 / (width * 50);
      width = Math.min(most, width + step);
    },
    limited(retryAfter) {
      const now = clock.now();
      const isNew = now >= quietUntil;
      quietUntil = Math.max(quietUntil, now + (retryAfter ?? pause));
      if (!isNew) return;
      pause = Math.min(pauses.longest, pause * 2);
      if (told !== undefined) return;
      refusedAt = Math.max(2, Math.min(inFlight, Math.ceil(width)));
      width = Math.max(1, refusedAt / 2);
    },
  };
}
