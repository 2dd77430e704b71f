import { array, assert, asyncProperty, constantFrom, integer, option, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { createThrottle } from "../../src/hosting/throttle/throttle.ts";
import { ServiceError } from "../../src/model/errors.ts";
import type { Limits } from "../../src/model/service.ts";
import { runs } from "../support/runs.ts";
import { virtualClock } from "../support/virtual-clock.ts";

interface Asked {
  readonly at: number;
  readonly takes: number;
  readonly operation: string;
  readonly host: string;
  /** Refused the first time it is sent, with this Retry-After in ms. */
  readonly refused: number | null;
  /** Given up so long after it was asked for. */
  readonly patience: number | null;
}

interface Start {
  readonly number: number;
  readonly at: number;
  readonly inFlight: number;
  /** Of each host: no request may start before. */
  readonly pausedUntil: number;
}

const asked = record({
  at: integer({ min: 0, max: 3000 }),
  takes: integer({ min: 0, max: 400 }),
  operation: constantFrom("look", "list", "make"),
  host: constantFrom("https://a.example", "https://b.example"),
  refused: option(constantFrom(0, 200, 1000, 17_000), { freq: 12 }),
  patience: option(integer({ min: 0, max: 2000 }), { freq: 8 }),
});

const limits = record(
  {
    inFlight: integer({ min: 1, max: 40 }),
    perSecond: constantFrom(0.5, 3, 30, 300, 3000),
    burst: integer({ min: 1, max: 30 }),
  },
  { requiredKeys: [] },
);

const loads = record({
  seed: integer({ min: 1, max: 1_000_000 }),
  limits,
  requests: array(asked, { minLength: 1, maxLength: 60 }),
});

type Ended = "taken" | "given up";

interface Ran {
  readonly starts: readonly Start[];
  readonly ends: readonly Ended[];
  /** Numbers in the order in which tickets were drawn. */
  readonly drawn: readonly number[];
}

/** Sends the requests, each at its time and again after a refusal, and writes down who started when. */
async function sent(requests: readonly Asked[], declared: Limits, seed: number): Promise<Ran> {
  const clock = virtualClock(seed);
  const begun = clock.now();
  const throttle = createThrottle(clock, declared);
  const starts: Start[] = [];
  const drawn: number[] = [];
  const pausedUntil = new Map<string, number>();
  let inFlight = 0;
  const send = async (request: Asked, number: number, isFirst: boolean): Promise<void> => {
    inFlight += 1;
    const now = clock.now() - begun;
    starts.push({ number, at: now, inFlight, pausedUntil: pausedUntil.get(request.host) ?? 0 });
    await clock.sleep(request.takes);
    inFlight -= 1;
    if (request.refused === null || !isFirst) return;
    const until = clock.now() - begun + request.refused;
    pausedUntil.set(request.host, Math.max(until, pausedUntil.get(request.host) ?? 0));
    throw new ServiceError("rate-limited", "x", "x", { status: 429, retryAfter: request.refused });
  };
  const all = requests.map(async (request, number): Promise<Ended> => {
    await clock.sleep(request.at);
    const stop = new AbortController();
    if (request.patience !== null)
      void clock.sleep(request.patience).then(() => stop.abort(new Error("enough")));
    const ticket = throttle.ticket(request.operation);
    drawn.push(number);
    for (let isFirst = true; ; isFirst = false) {
      try {
        await throttle.run(request.host, ticket, () => send(request, number, isFirst), stop.signal);
        return "taken";
      } catch (error) {
        if (error === stop.signal.reason) return "given up";
      }
    }
  });
  const ends = await clock.drive(Promise.all(all));
  return { starts, ends, drawn };
}

describe("always", () => {
  it("everything that is queued ends, and only who is impatient is not sent", async () => {
    await assert(
      asyncProperty(loads, async ({ requests, limits: declared, seed }) => {
        const { ends } = await sent(requests, declared, seed);
        for (const [number, end] of ends.entries())
          if (requests[number]?.patience === null) expect(end).toBe("taken");
      }),
      { numRuns: runs(150) },
    );
  });

  it("no more are in flight than is declared, and none starts during a pause", async () => {
    await assert(
      asyncProperty(loads, async ({ requests, limits: declared, seed }) => {
        const { starts } = await sent(requests, declared, seed);
        for (const { at, inFlight, pausedUntil } of starts) {
          expect(inFlight).toBeLessThanOrEqual(declared.inFlight ?? 32);
          expect(at).toBeGreaterThanOrEqual(pausedUntil);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it("no window has more than burst + perSecond * t, on each host", async () => {
    await assert(
      asyncProperty(loads, async ({ requests, limits: declared, seed }) => {
        const { perSecond } = declared;
        if (perSecond === undefined) return;
        const burst = declared.burst ?? Math.max(1, perSecond / 100);
        const { starts } = await sent(requests, declared, seed);
        for (const host of new Set(requests.map((request) => request.host))) {
          const times = starts.filter(({ number }) => requests[number]?.host === host).map(({ at }) => at);
          for (const [from, first] of times.entries())
            for (const [to, last] of times.entries())
              if (to >= from)
                expect(to - from + 1).toBeLessThanOrEqual(burst + (perSecond * (last - first)) / 1000 + 1e-6);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it("an operation is served in the order in which it was asked for, and operations take turns", async () => {
    const patient = loads.map((load) => ({
      ...load,
      requests: load.requests.map((each) => ({
        ...each,
        at: 0,
        // One that takes no time is over before the last ones have come.
        takes: Math.max(1, each.takes),
        refused: null,
        patience: null,
        host: "h",
      })),
    }));
    await assert(
      asyncProperty(patient, async ({ requests, limits: declared, seed }) => {
        const { starts, drawn } = await sent(requests, declared, seed);
        const operationOf = (number: number): string => requests[number]?.operation ?? "";
        for (const operation of ["look", "list", "make"]) {
          const isOfIt = (number: number): boolean => operationOf(number) === operation;
          expect(starts.map(({ number }) => number).filter(isOfIt)).toEqual(drawn.filter(isOfIt));
        }
        // Everybody came at once: who waited while another operation had two turns was passed over.
        const firstWaiting = Math.min(declared.inFlight ?? 32, starts.length);
        for (let at = firstWaiting; at + 2 < starts.length; at += 1) {
          const [one, two] = starts.slice(at, at + 2).map(({ number }) => operationOf(number));
          const later = new Set(starts.slice(at + 2).map(({ number }) => operationOf(number)));
          if (one === two) expect([...later].filter((each) => each !== one)).toEqual([]);
        }
      }),
      { numRuns: runs(150) },
    );
  });
});
