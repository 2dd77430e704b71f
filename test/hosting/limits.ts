import { createThrottle } from "../../src/hosting/throttle/throttle.ts";
import { ServiceError } from "../../src/model/errors.ts";
import { defined } from "../../src/model/json.ts";
import type { Limits } from "../../src/model/service.ts";
import type { VirtualClock } from "../support/virtual-clock.ts";

/** What a service allows: whether it takes a request now, and that one of those that it took has ended. */
export interface Limit {
  take(now: number): boolean;
  end(): void;
}

/** So many at a time. */
export function atATime(most: number): Limit {
  let busy = 0;
  return {
    take: () => {
      if (busy >= most) return false;
      busy += 1;
      return true;
    },
    end: () => {
      busy -= 1;
    },
  };
}

/** So many in each second of the clock. */
export function eachSecond(most: number): Limit {
  let second = 0;
  let count = 0;
  return {
    take: (now) => {
      const current = Math.floor(now / 1000);
      if (current !== second) count = 0;
      second = current;
      count += 1;
      return count <= most;
    },
    end: () => undefined,
  };
}

/** So many in any second, wherever it begins. */
export function inAnySecond(most: number): Limit {
  let times: number[] = [];
  return {
    take: (now) => {
      times = times.filter((time) => now - time < 1000);
      if (times.length >= most) return false;
      times.push(now);
      return true;
    },
    end: () => undefined,
  };
}

/** One in so many ms. */
export function apart(gap: number): Limit {
  let last = Number.NEGATIVE_INFINITY;
  return {
    take: (now) => {
      if (now - last < gap) return false;
      last = now;
      return true;
    },
    end: () => undefined,
  };
}

/** A bucket that fills with so many a second, and holds `size`. */
export function bucket(rate: number, size: number = rate): Limit {
  let tokens = size;
  let last = 0;
  return {
    take: (now) => {
      tokens = Math.min(size, tokens + ((now - last) * rate) / 1000);
      last = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
    end: () => undefined,
  };
}

export interface Run {
  /** Virtual ms from the first request to the last answer. */
  readonly ms: number;
  readonly refused: number;
  /** Most in flight at once. */
  readonly together: number;
}

interface Load {
  readonly limit: Limit;
  readonly requests: number;
  /** How long the service takes over a request, in ms, give or take a fifth. */
  readonly latency: number;
  /** What a refusal says, in ms. */
  readonly retryAfter?: number;
  readonly parallelism?: number;
  /** What the profile declares. */
  readonly declared?: Limits;
}

/** Sends requests at a limited service through a budget, all at once and each until it is taken. */
export async function run(load: Load, clock: VirtualClock): Promise<Run> {
  const { ask, seen } = client(load, clock);
  const begun = clock.now();
  let last = begun;
  const all = Array.from({ length: load.requests }, async () => {
    await ask("thing.get");
    last = clock.now();
  });
  await clock.drive(Promise.all(all));
  return { ms: last - begun, refused: seen.refused, together: seen.together };
}

/**
 * Sends what an apply sends: creates one after the other, each followed by looks at what it made until that is ready,
 * and one look at everything in the end. On its way to the service a request takes up to 4 ms.
 */
export async function runLikeAnApply(
  load: Omit<Load, "requests"> & { readonly things: number },
  clock: VirtualClock,
): Promise<Run & { readonly taken: number }> {
  const { ask, seen } = client(load, clock, 4);
  const begun = clock.now();
  let chain = Promise.resolve();
  const make = async (): Promise<void> => {
    chain = chain.then(async () => {
      await ask("thing.create");
      await clock.sleep(6 + 6 * clock.random());
    });
    await chain;
    const readyAt = clock.now() + 1200;
    for (let pause = 150; ; pause = 400) {
      await clock.sleep(pause * (0.8 + 0.4 * clock.random()));
      await ask("thing.get");
      if (clock.now() >= readyAt) return;
    }
  };
  const all = async (): Promise<void> => {
    await ask("thing.list");
    await Promise.all(Array.from({ length: load.things }, make));
    await Promise.all(Array.from({ length: load.things }, () => ask("thing.get")));
  };
  await clock.drive(all());
  return { ms: clock.now() - begun, ...seen };
}

/** Sends creates that are all ready to leave at once, each followed by three looks. */
export async function runCreates(
  load: Omit<Load, "requests"> & { readonly things: number },
  clock: VirtualClock,
): Promise<Run & { readonly refusedWrites: number }> {
  const { ask, seen } = client(load, clock, 4);
  const begun = clock.now();
  const make = async (): Promise<void> => {
    await ask("thing.create");
    for (let look = 0; look < 3; look += 1) {
      await clock.sleep(150 * (0.8 + 0.4 * clock.random()));
      await ask("thing.get");
    }
  };
  await clock.drive(Promise.all(Array.from({ length: load.things }, make)));
  return { ms: clock.now() - begun, ...seen };
}

/** Who sends requests through a budget, and what became of them. */
function client(
  load: Omit<Load, "requests">,
  clock: VirtualClock,
  way = 0,
): {
  readonly ask: (operation: string) => Promise<void>;
  readonly seen: Omit<Run, "ms"> & { taken: number; refusedWrites: number };
} {
  const throttle = createThrottle(clock, load.declared, load.parallelism);
  const signal = new AbortController().signal;
  const seen = { refused: 0, together: 0, taken: 0, refusedWrites: 0 };
  let inFlight = 0;
  const request = async (): Promise<void> => {
    inFlight += 1;
    seen.together = Math.max(seen.together, inFlight);
    if (way > 0) await clock.sleep(clock.random() * way);
    const isTaken = load.limit.take(clock.now());
    await clock.sleep(isTaken ? load.latency * (0.8 + clock.random() * 0.4) : 1);
    inFlight -= 1;
    if (isTaken) {
      load.limit.end();
      seen.taken += 1;
      return;
    }
    seen.refused += 1;
    const { retryAfter } = load;
    const options = { status: 429, ...defined({ retryAfter }) };
    throw new ServiceError("rate-limited", "thing.do", "slow down", options);
  };
  const ask = async (operation: string): Promise<void> => {
    const ticket = throttle.ticket(operation, operation === "thing.create");
    for (let isTaken = false; !isTaken; ) {
      isTaken = await throttle.run("platform", ticket, request, signal).then(
        () => true,
        () => false,
      );
      if (!isTaken && ticket.isWrite) seen.refusedWrites += 1;
    }
  };
  return { ask, seen };
}
