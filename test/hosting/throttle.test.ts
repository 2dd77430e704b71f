import { describe, expect, it } from "vitest";
import { createThrottle, type Throttle } from "../../src/hosting/throttle/throttle.ts";
import { ServiceError } from "../../src/model/errors.ts";
import { defined } from "../../src/model/json.ts";
import { virtualClock } from "../support/virtual-clock.ts";
import {
  apart,
  atATime,
  bucket,
  eachSecond,
  inAnySecond,
  type Limit,
  run,
  runCreates,
  runLikeAnApply,
} from "./limits.ts";
import { always } from "./service-of.ts";

const platform = "https://platform.example";
const users = "https://users.example";

function tooMuch(retryAfter?: number): ServiceError {
  return refusalOf("rate-limited", 429, retryAfter);
}

function refusalOf(
  failure: "rate-limited" | "unavailable",
  status: number,
  retryAfter?: number,
): ServiceError {
  return new ServiceError(failure, "x", "x", {
    status,
    ...defined({ retryAfter }),
  });
}

function ask<T>(throttle: Throttle, work: () => Promise<T>, operation = "thing.get"): Promise<T> {
  return throttle.run(platform, throttle.ticket(operation), work, always);
}

async function refuseOne(throttle: Throttle, error: ServiceError, host = platform): Promise<void> {
  const refused = throttle.run(host, throttle.ticket("thing.get"), () => Promise.reject(error), always);
  await expect(refused).rejects.toBe(error);
}

const anything: Limit = { take: () => true, end: () => undefined };

describe("a service that refuses nothing", () => {
  it.each([64, 1])("is asked with parallelism %s from the first moment", async (parallelism) => {
    const load = { limit: anything, requests: 1000, latency: 20, parallelism };
    const { together, ms } = await run(load, virtualClock());
    expect(together).toBe(parallelism);
    expect(ms).toBeLessThan((1000 * 20 * 1.2) / parallelism + 30);
  });

  it("is asked 32 at a time at first, and more while it answers as quickly", async () => {
    const load = { limit: anything, latency: 20 };
    expect(await run({ ...load, requests: 32 }, virtualClock())).toMatchObject({ together: 32 });
    const { together, ms } = await run({ ...load, requests: 5000 }, virtualClock());
    expect(together).toBeGreaterThan(200);
    expect(ms).toBeLessThan((5000 * 20) / 100);
  });

  it.each([
    ["no write before a read was taken beside as many", false, 4],
    ["no more than 32 writes, however many reads were taken together", true, 32],
  ])("is asked by %s", async (_, hasRead, writes) => {
    const clock = virtualClock();
    const throttle = createThrottle(clock);
    let [now, most] = [0, 0];
    const one = (isWrite: boolean): Promise<void> =>
      throttle.run(
        platform,
        throttle.ticket(isWrite ? "thing.create" : "thing.get", isWrite),
        async () => {
          now += isWrite ? 1 : 0;
          most = Math.max(most, now);
          await clock.sleep(20);
          now -= isWrite ? 1 : 0;
        },
        always,
      );
    if (hasRead) await clock.drive(Promise.all(Array.from({ length: 1000 }, () => one(false))));
    await clock.drive(Promise.all(Array.from({ length: 200 }, () => one(true))));
    expect(most).toBe(writes);
  });

  it("is asked by no more once its answers take longer", async () => {
    let busy = 0;
    // Sixteen are carried out at a time; the others wait at the service.
    const clock = virtualClock();
    const throttle = createThrottle(clock);
    let most = 0;
    const one = (): Promise<void> =>
      ask(throttle, async () => {
        busy += 1;
        most = Math.max(most, busy);
        await clock.sleep(20 * Math.ceil(busy / 16));
        busy -= 1;
      });
    await clock.drive(Promise.all(Array.from({ length: 3000 }, one)));
    expect(most).toBeLessThan(100);
  });
});

describe("a service that takes so many at a time, which nothing declares, refuses no create of many", () => {
  it.each([
    [4, undefined],
    [4, 64],
    [16, undefined],
    [16, 64],
    [64, 64],
    [1000, 200],
  ])("of %i, with parallelism %s, within 1.3 times what it allows", async (most, parallelism) => {
    const load = { limit: atATime(most), things: 1000, latency: 20, ...defined({ parallelism }) };
    const { ms, refusedWrites } = await runCreates(load, virtualClock());
    expect(refusedWrites).toBe(0);
    expect(ms).toBeLessThan(1.3 * 4000 * (22 / Math.min(most, 32)) + 1000);
  });
});

describe("a declared limit is kept, within 1.2 times what it allows", () => {
  it.each<[string, () => Limit, { inFlight?: number; perSecond?: number; burst?: number }]>([
    ["4 at a time", () => atATime(4), { inFlight: 4 }],
    ["one at a time", () => atATime(1), { inFlight: 1 }],
    ["30 in each second", () => eachSecond(30), { perSecond: 30 }],
    ["30 in any second", () => inAnySecond(30), { perSecond: 30 }],
    ["one in 33 ms", () => apart(33), { perSecond: 30 }],
    ["a bucket of thirty", () => bucket(30), { perSecond: 30, burst: 30 }],
    ["a bucket of five", () => bucket(30, 5), { perSecond: 30, burst: 5 }],
    ["a bucket of 30 with 300 a second", () => bucket(300, 30), { perSecond: 300, burst: 30 }],
  ])("%s", async (_, limitOf, declared) => {
    for (const latency of [5, 50, 300]) {
      const requests = 400;
      const { ms, refused } = await run({ limit: limitOf(), requests, latency, declared }, virtualClock());
      const { inFlight = 32, perSecond = Number.POSITIVE_INFINITY } = declared;
      const allowed = Math.max((requests * latency) / inFlight, (requests / perSecond) * 1000);
      expect(refused).toBe(0);
      expect(ms).toBeLessThan(1.2 * allowed);
    }
  });

  it.each<[string, () => Limit, { inFlight?: number; perSecond?: number; burst?: number }]>([
    ["4 at a time", () => atATime(4), { inFlight: 4 }],
    ["30 in each second", () => eachSecond(30), { perSecond: 30 }],
    ["30 in any second", () => inAnySecond(30), { perSecond: 30 }],
    ["a bucket of five", () => bucket(30, 5), { perSecond: 30, burst: 5 }],
  ])("by an apply of forty, whose requests travel for up to 4 ms: %s", async (_, limitOf, declared) => {
    for (const seed of [1, 2, 3]) {
      const load = { limit: limitOf(), things: 40, latency: 6, retryAfter: 1000, declared };
      const { ms, taken, refused } = await runLikeAnApply(load, virtualClock(seed));
      expect(refused).toBe(0);
      expect(ms).toBeLessThan(1.2 * Math.max(3000, (taken / (declared.perSecond ?? 1000)) * 1000));
    }
  });
});

describe("an undeclared limit is used within twice what it allows", () => {
  const limits: readonly [string, () => Limit, number][] = [
    ["4 at a time", () => atATime(4), 13.3],
    ["16 at a time", () => atATime(16), 53.3],
    ["one at a time", () => atATime(1), 3.3],
    ["30 in each second", () => eachSecond(30), 30],
    ["30 in any second", () => inAnySecond(30), 30],
    ["a bucket of thirty", () => bucket(30), 30],
    ["a bucket of five", () => bucket(30, 5), 30],
    ["a bucket of one", () => bucket(30, 1), 30],
    ["one in 33 ms", () => apart(33), 30],
    ["one in 2 s", () => apart(2000), 0.5],
  ];

  it.each(limits)("%s", async (_, limitOf, perSecond) => {
    for (const retryAfter of [undefined, 1000]) {
      for (const seed of [1, 2, 3]) {
        const load = { limit: limitOf(), requests: 400, latency: 300 };
        const { ms } = await run({ ...load, ...defined({ retryAfter }) }, virtualClock(seed));
        expect(ms).toBeLessThan(2 * (400 / perSecond) * 1000);
      }
    }
  });

  it.each(limits.slice(0, 8))(
    "by an apply of forty, with a fifth for its start: %s",
    async (_, limitOf, perSecond) => {
      for (const seed of [1, 2, 3, 4, 5]) {
        const load = { limit: limitOf(), things: 40, latency: 6, retryAfter: 1000 };
        const { ms, taken } = await runLikeAnApply(load, virtualClock(seed));
        expect(ms).toBeLessThan(2.4 * Math.max(3000, perSecond === 30 ? (taken / perSecond) * 1000 : 0));
      }
    },
  );

  it.each<[string, () => Limit, number]>([
    ["4 at a time", () => atATime(4), 200],
    ["16 at a time", () => atATime(16), 800],
    ["64 at a time", () => atATime(64), 3200],
    ["1000 at a time", () => atATime(1000), 12_800],
    ["100 in any second", () => inAnySecond(100), 100],
    ["100 in each second", () => eachSecond(100), 100],
  ])("by a plan of five thousand that takes 20 ms for a request: %s", async (_, limitOf, perSecond) => {
    for (const seed of [1, 2, 3]) {
      const load = { limit: limitOf(), requests: 5000, latency: 20 };
      const { ms } = await run(load, virtualClock(seed));
      expect(ms).toBeLessThan(2 * (5000 / perSecond) * 1000);
    }
  });

  it.each([
    ["4 at a time", atATime(4), 50],
    ["30 a second", bucket(30), 5],
  ])("and is not bothered with much more than it takes: %s", async (_, limit, latency) => {
    const { refused } = await run({ limit, requests: 2000, latency }, virtualClock());
    expect(refused).toBeLessThan(60);
  });
});

describe("a refusal", () => {
  it("with a Retry-After pauses everybody for as long as it says", async () => {
    const clock = virtualClock();
    const throttle = createThrottle(clock);
    const begun = clock.now();
    await refuseOne(throttle, tooMuch(7000));
    const starts = await clock.drive(
      Promise.all(Array.from({ length: 5 }, () => ask(throttle, async () => clock.now() - begun))),
    );
    expect(Math.min(...starts)).toBeGreaterThanOrEqual(7000);
    expect(Math.max(...starts)).toBeLessThan(7500);
  });

  it("without one pauses everybody for a second", async () => {
    const clock = virtualClock();
    const throttle = createThrottle(clock);
    const begun = clock.now();
    await refuseOne(throttle, tooMuch());
    const at = await clock.drive(ask(throttle, async () => clock.now() - begun));
    expect(at).toBeGreaterThanOrEqual(1000);
    expect(at).toBeLessThan(1200);
  });

  it("that is shorter than an earlier one does not shorten the pause", async () => {
    const clock = virtualClock();
    const throttle = createThrottle(clock);
    const begun = clock.now();
    const late = ask(throttle, async () => {
      await clock.sleep(1000);
      throw tooMuch(100);
    }).catch(() => undefined);
    await refuseOne(throttle, tooMuch(7000));
    const next = ask(throttle, async () => clock.now() - begun);
    await clock.drive(late);
    expect(await clock.drive(next)).toBeGreaterThanOrEqual(7000);
  });

  it("of a sign-in, which has no turn, pauses everybody as well", async () => {
    const clock = virtualClock();
    const throttle = createThrottle(clock);
    const begun = clock.now();
    throttle.recordRefusal(platform, tooMuch(3000));
    throttle.recordRefusal(platform, new Error("no refusal"));
    expect(await clock.drive(ask(throttle, async () => clock.now() - begun))).toBeGreaterThanOrEqual(3000);
  });

  it("of one host does not hold the other", async () => {
    const clock = virtualClock();
    const throttle = createThrottle(clock);
    const begun = clock.now();
    await refuseOne(throttle, tooMuch(60_000), users);
    expect(await clock.drive(ask(throttle, async () => clock.now() - begun))).toBe(0);
  });

  it("of status 503 pauses where it says how long, and never slows down", async () => {
    const clock = virtualClock();
    const throttle = createThrottle(clock);
    const starts = async (): Promise<number> => {
      const begun = clock.now();
      const all = Array.from({ length: 20 }, () => ask(throttle, async () => clock.now() - begun));
      return Math.max(...(await clock.drive(Promise.all(all))));
    };
    await refuseOne(throttle, refusalOf("unavailable", 503));
    expect(await starts()).toBe(0);
    await refuseOne(throttle, refusalOf("unavailable", 503, 3000));
    expect(await starts()).toBe(3000);
  });

  it("is not risked by writes: they do not raise the rate, as reads do", async () => {
    const lasts = async (operation: string, isWrite: boolean): Promise<number> => {
      const clock = virtualClock();
      const throttle = createThrottle(clock);
      await refuseOne(throttle, tooMuch());
      const one = (): Promise<void> =>
        throttle.run(platform, throttle.ticket(operation, isWrite), async () => undefined, always);
      const begun = clock.now();
      await clock.drive(Promise.all(Array.from({ length: 100 }, one)));
      return clock.now() - begun;
    };
    // A second's pause, then twenty a second.
    expect(await lasts("thing.create", true)).toBeGreaterThan(1000 + 99 * 50);
    expect(await lasts("thing.get", false)).toBeLessThan(4000);
  });

  it("halves the rate once, however many were under way", async () => {
    const clock = virtualClock();
    const throttle = createThrottle(clock, { perSecond: 40 });
    const rate = async (): Promise<number> => {
      const all = Array.from({ length: 10 }, () => ask(throttle, async () => clock.now()));
      const starts = await clock.drive(Promise.all(all));
      return 9000 / (Math.max(...starts) - Math.min(...starts));
    };
    await rate();
    const wave = Array.from({ length: 5 }, () =>
      ask(throttle, async () => {
        await clock.sleep(500);
        throw tooMuch(0);
      }).catch(() => undefined),
    );
    await clock.drive(Promise.all(wave));
    expect(await rate()).toBeGreaterThan(18.9);
    expect(await rate()).toBeLessThan(21);
  });
});

describe("the queue", () => {
  it("is served in order, and a request that was refused keeps its place", async () => {
    const clock = virtualClock();
    const throttle = createThrottle(clock, { inFlight: 1 });
    const order: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      order.push(name);
      await clock.sleep(10);
    };
    const [a, b, c] = ["a", "b", "c"].map(() => throttle.ticket("thing.get"));
    if (a === undefined || b === undefined || c === undefined) throw new Error("three tickets");
    const first = throttle.run(platform, a, () => Promise.reject(tooMuch(100)), always);
    const others = [b, c].map((ticket, at) =>
      throttle.run(platform, ticket, work(["b", "c"][at] ?? ""), always),
    );
    await expect(first).rejects.toBeDefined();
    const again = throttle.run(platform, a, work("a"), always);
    await clock.drive(Promise.all([...others, again]));
    expect(order).toEqual(["a", "b", "c"]);
  });

  it.each([
    ["look", "make"],
    ["make", "look"],
  ])("lets operations take turns: a thousand of %s do not hold up one %s", async (many, one) => {
    const clock = virtualClock();
    const throttle = createThrottle(clock, { inFlight: 1 });
    const order: string[] = [];
    const wanted = [...Array.from({ length: 1000 }, () => many), one, one];
    const all = wanted.map((operation) =>
      ask(
        throttle,
        async () => {
          order.push(operation);
          await clock.sleep(10);
        },
        operation,
      ),
    );
    await clock.drive(Promise.all(all));
    expect(order.slice(0, 5)).toEqual([many, many, one, many, one]);
  });

  it("is left by those who give up, at once", async () => {
    const clock = virtualClock();
    const throttle = createThrottle(clock, { inFlight: 1 });
    const stop = new AbortController();
    const busy = ask(throttle, () => clock.sleep(1000));
    const waiting = throttle.run(platform, throttle.ticket("thing.get"), async () => "ran", stop.signal);
    const next = ask(throttle, async () => "next");
    stop.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    expect(await clock.drive(Promise.all([busy, next]))).toEqual([undefined, "next"]);
    const late = throttle.run(platform, throttle.ticket("thing.get"), async () => "ran", stop.signal);
    await expect(late).rejects.toThrow("given up");
  });

  it("of nobody leaves no timer behind", async () => {
    const clock = virtualClock();
    const throttle = createThrottle(clock);
    const stop = new AbortController();
    await refuseOne(throttle, tooMuch(600_000));
    const waiting = throttle.run(platform, throttle.ticket("thing.get"), async () => "ran", stop.signal);
    stop.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    await expect(clock.drive(new Promise(() => undefined))).rejects.toThrow("nothing is left");
  });
});
