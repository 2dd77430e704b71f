import { assert, asyncProperty, constantFrom, integer, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { createBudget } from "../../src/hosting/budget.ts";
import { ServiceError } from "../../src/model/errors.ts";
import { virtualClock } from "../support/virtual-clock.ts";
import { apart, atATime, bucket, eachSecond, inAnySecond, run, runLikeAnApply } from "./limits.ts";
import { always } from "./service-of.ts";

const tooMuch = (retryAfter?: number): ServiceError =>
  new ServiceError("rate-limited", "x", "x", {
    status: 429,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });

describe("a service without a limit", () => {
  it("gets more and more at a time, up to 32", async () => {
    const clock = virtualClock();
    const free = { take: () => true, end: () => undefined };
    const { together, ms } = await run({ limit: free, requests: 1000, latency: 20 }, clock);
    expect(together).toBe(32);
    expect(ms).toBeLessThan((1000 * 20 * 1.2) / 32 + 200);
  });
});

describe("a service that allows only so much is used within 1.5 times what the limit itself allows", () => {
  it.each([
    [4, 5, undefined],
    [4, 50, undefined],
    [4, 300, undefined],
    [1, 50, undefined],
    [10, 300, undefined],
    [1, 50, 1000],
    [4, 50, 1000],
    [4, 300, 1000],
    [10, 300, 1000],
  ])("%i at a time, %i ms each, Retry-After %s", async (most, latency, retryAfter) => {
    for (const seed of [1, 2, 3]) {
      const load = {
        limit: atATime(most),
        requests: 400,
        latency,
        ...(retryAfter === undefined ? {} : { retryAfter }),
      };
      const { ms } = await run(load, virtualClock(seed));
      expect(ms).toBeLessThan(1.5 * ((400 * latency) / most));
    }
  });

  const rates: readonly (readonly [string, typeof bucket, number, number | undefined])[] = [
    ["bucket", bucket, 5, undefined],
    ["bucket", bucket, 50, undefined],
    ["bucket", bucket, 300, undefined],
    ["bucket", bucket, 5, 1000],
    ["bucket", bucket, 50, 1000],
    ["bucket", bucket, 300, 1000],
    ["window", eachSecond, 5, undefined],
    ["window", eachSecond, 50, undefined],
    ["window", eachSecond, 300, undefined],
    ["window", eachSecond, 5, 1000],
    ["window", eachSecond, 50, 1000],
    ["window", eachSecond, 300, 1000],
  ];

  it.each(rates)("30 a second by a %s (case %#)", async (_, limitOf, latency, retryAfter) => {
    for (const seed of [1, 2, 3]) {
      const load = {
        limit: limitOf(30),
        requests: 400,
        latency,
        ...(retryAfter === undefined ? {} : { retryAfter }),
      };
      const { ms } = await run(load, virtualClock(seed));
      expect(ms).toBeLessThan(1.5 * (400 / 30) * 1000);
    }
  });

  it.each([
    ["one in 33 ms", () => apart(33), 1.5],
    ["a bucket of one", () => bucket(30, 1), 1.55],
    ["a bucket of five", () => bucket(30, 5), 1.3],
    ["no more than 30 in any second", () => inAnySecond(30), 1.45],
  ])("30 a second without bursts: %s", async (_, limitOf, most) => {
    for (const latency of [5, 20, 100, 300]) {
      for (const seed of [1, 2, 3]) {
        const { ms } = await run({ limit: limitOf(), requests: 330, latency }, virtualClock(seed));
        expect(ms / 11_000).toBeLessThan(most);
      }
    }
  });

  it.each([
    ["one in 33 ms", () => apart(33), 2],
    ["a bucket of one", () => bucket(30, 1), 2],
    ["a bucket of five", () => bucket(30, 5), 1.9],
    ["no more than 30 in any second", () => inAnySecond(30), 1.7],
  ])("nearly, where each refusal is a pause of a second: %s", async (_, limitOf, most) => {
    for (const latency of [5, 20, 100, 300]) {
      for (const seed of [1, 2, 3]) {
        const load = { limit: limitOf(), requests: 330, latency, retryAfter: 1000 };
        const { ms } = await run(load, virtualClock(seed));
        expect(ms / 11_000).toBeLessThan(most);
      }
    }
  });

  it.each([
    ["30 in each second", () => eachSecond(30), 1.4, 1.4],
    ["no more than 30 in any second", () => inAnySecond(30), 1.4, 1.4],
    ["a bucket of thirty", () => bucket(30), 1.1, 1.1],
    ["a bucket of ten", () => bucket(30, 10), 1.1, 1.6],
    ["a bucket of five", () => bucket(30, 5), 1.3, 1.6],
    ["4 at a time", () => atATime(4), 1, 1],
  ])(
    "by an apply of forty, without and with a pause of a second: %s",
    async (_, limitOf, most, mostIfDear) => {
      for (const seed of [1, 2, 3, 4, 5]) {
        for (const [retryAfter, bound] of [[undefined, most] as const, [1000, mostIfDear] as const]) {
          const load = { limit: limitOf(), things: 40, latency: 6 };
          const dear = retryAfter === undefined ? {} : { retryAfter };
          const { ms, taken } = await runLikeAnApply({ ...load, ...dear }, virtualClock(seed));
          expect(ms).toBeLessThan(bound * Math.max(3000, (taken / 30) * 1000));
        }
      }
    },
  );

  it.each([
    ["4 at a time", atATime(4), 50, 40],
    ["30 a second", bucket(30), 5, 90],
  ])("and is not bothered with much more than it takes: %s", async (_, limit, latency, most) => {
    const { refused } = await run({ limit, requests: 2000, latency }, virtualClock());
    expect(refused).toBeLessThan(most);
  });
});

describe("Retry-After", () => {
  it("holds everybody, and only as long as it says", async () => {
    const clock = virtualClock();
    const budget = createBudget(clock);
    const begun = clock.now();
    const starts: number[] = [];
    const work = async (): Promise<void> => {
      starts.push(clock.now() - begun);
      await clock.sleep(10);
    };
    const refusedOne = budget.run(
      "platform",
      budget.ticket("thing.get"),
      () => Promise.reject(tooMuch(7000)),
      always,
    );
    await expect(refusedOne).rejects.toMatchObject({ failure: "rate-limited" });
    await clock.drive(
      Promise.all(
        Array.from({ length: 5 }, () => budget.run("platform", budget.ticket("thing.get"), work, always)),
      ),
    );
    expect(Math.min(...starts)).toBe(7000);
    expect(Math.max(...starts)).toBeLessThan(7100);
  });

  it("of one host does not hold the other", async () => {
    const clock = virtualClock();
    const budget = createBudget(clock);
    const begun = clock.now();
    await expect(
      budget.run("users", budget.ticket("thing.get"), () => Promise.reject(tooMuch(60_000)), always),
    ).rejects.toBeDefined();
    const users = budget.run("users", budget.ticket("thing.get"), async () => clock.now() - begun, always);
    const platform = budget.run(
      "platform",
      budget.ticket("thing.get"),
      async () => clock.now() - begun,
      always,
    );
    expect(await clock.drive(Promise.all([users, platform]))).toEqual([60_000, 0]);
  });

  it("counts for a 503 as well, and a 503 without it is no refusal", async () => {
    const clock = virtualClock();
    const budget = createBudget(clock);
    const before = budget.learned().width.limit;
    const failing = (retryAfter?: number): Promise<unknown> => {
      const options = { status: 503, ...(retryAfter === undefined ? {} : { retryAfter }) };
      const error = new ServiceError("unavailable", "x", "x", options);
      return clock.drive(
        budget
          .run("platform", budget.ticket("thing.get"), () => Promise.reject(error), always)
          .catch(() => undefined),
      );
    };
    await failing();
    expect(budget.learned().width.limit).toBe(before);
    const begun = clock.now();
    await failing(3000);
    await clock.drive(budget.run("platform", budget.ticket("thing.get"), async () => undefined, always));
    expect(clock.now() - begun).toBe(3000);
  });
});

describe("the queue", () => {
  it("is served in order, and a request that was refused keeps its place", async () => {
    const clock = virtualClock();
    const budget = createBudget(clock, 1);
    const order: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      order.push(name);
      await clock.sleep(10);
    };
    const [a, b, c] = [budget.ticket("thing.get"), budget.ticket("thing.get"), budget.ticket("thing.get")];
    const first = budget.run("platform", a, () => Promise.reject(tooMuch(100)), always);
    const others = [
      budget.run("platform", b, work("b"), always),
      budget.run("platform", c, work("c"), always),
    ];
    await expect(first).rejects.toBeDefined();
    const again = budget.run("platform", a, work("a"), always);
    await clock.drive(Promise.all([...others, again]));
    expect(order).toEqual(["a", "b", "c"]);
  });

  it("lets operations take turns, so that many of one do not hold up the other", async () => {
    const clock = virtualClock();
    const budget = createBudget(clock, 1);
    const order: string[] = [];
    const ask = (operation: string): Promise<void> =>
      budget.run(
        "platform",
        budget.ticket(operation),
        async () => {
          order.push(operation);
          await clock.sleep(10);
        },
        always,
      );
    const wanted = ["look", "look", "look", "look", "make", "make"];
    await clock.drive(Promise.all(wanted.map(ask)));
    expect(order).toEqual(["look", "make", "look", "make", "look", "look"]);
  });

  it("is left by those who give up, at once", async () => {
    const clock = virtualClock();
    const budget = createBudget(clock, 1);
    const stop = new AbortController();
    const busy = budget.run("platform", budget.ticket("thing.get"), () => clock.sleep(1000), always);
    const waiting = budget.run("platform", budget.ticket("thing.get"), async () => "ran", stop.signal);
    const next = budget.run("platform", budget.ticket("thing.get"), async () => "next", always);
    stop.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    expect(await clock.drive(Promise.all([busy, next]))).toEqual([undefined, "next"]);
    await expect(
      budget.run("platform", budget.ticket("thing.get"), async () => "ran", stop.signal),
    ).rejects.toThrow("given up");
  });

  it("of nobody leaves no timer behind", async () => {
    const clock = virtualClock();
    const budget = createBudget(clock);
    const stop = new AbortController();
    await expect(
      budget.run("platform", budget.ticket("thing.get"), () => Promise.reject(tooMuch(600_000)), always),
    ).rejects.toBeDefined();
    const waiting = budget.run("platform", budget.ticket("thing.get"), async () => "ran", stop.signal);
    stop.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    await expect(clock.drive(new Promise(() => undefined))).rejects.toThrow("nothing is left");
  });
});

describe("always", () => {
  const loads = record({
    seed: integer({ min: 1, max: 1_000_000 }),
    requests: integer({ min: 1, max: 150 }),
    latency: integer({ min: 1, max: 400 }),
    kind: constantFrom("at a time", "a second", "bucket"),
    most: integer({ min: 1, max: 40 }),
    retryAfter: constantFrom(undefined, 0, 200, 1000, 17_000),
    parallelism: constantFrom(undefined, 1, 3, 20),
  });

  it("every request is taken in the end, and never more at a time than was told", async () => {
    await assert(
      asyncProperty(loads, async ({ seed, requests, latency, kind, most, retryAfter, parallelism }) => {
        const limit =
          kind === "at a time" ? atATime(most) : kind === "bucket" ? bucket(most) : eachSecond(most);
        const load = {
          limit,
          requests,
          latency,
          ...(retryAfter === undefined ? {} : { retryAfter }),
          ...(parallelism === undefined ? {} : { parallelism }),
        };
        const { together } = await run(load, virtualClock(seed));
        expect(together).toBeLessThanOrEqual(parallelism ?? 32);
      }),
      { numRuns: 80 },
    );
  });

  it("requests go on after a refusal without a pause, and one with a long one, before any was taken", async () => {
    const clock = virtualClock();
    const budget = createBudget(clock);
    const ask = (work: () => Promise<unknown>): Promise<unknown> =>
      clock.drive(budget.run("platform", budget.ticket("thing.get"), work, always).catch(() => undefined));
    for (let n = 0; n < 3; n += 1) await ask(() => clock.sleep(10));
    await ask(() => Promise.reject(tooMuch()));
    await ask(() => Promise.reject(tooMuch(17_000)));
    const begun = clock.now();
    for (let n = 0; n < 3; n += 1) await ask(async () => undefined);
    expect(clock.now() - begun).toBeLessThan(25_000);
  });

  it("a told width never narrows, whatever is refused", async () => {
    const clock = virtualClock();
    const budget = createBudget(clock, 5);
    for (let round = 0; round < 10; round += 1) {
      await clock.drive(
        budget
          .run("platform", budget.ticket("thing.get"), () => Promise.reject(tooMuch(10)), always)
          .catch(() => undefined),
      );
    }
    expect(budget.learned().width.limit).toBe(5);
  });

  it("one wave of refusals halves the width once", async () => {
    const clock = virtualClock();
    const budget = createBudget(clock);
    const wave = Array.from({ length: 8 }, (_, number) =>
      budget
        .run(
          "platform",
          budget.ticket("thing.get"),
          () => (number < 2 ? clock.sleep(50) : Promise.reject(tooMuch())),
          always,
        )
        .catch(() => undefined),
    );
    await clock.drive(Promise.all(wave));
    expect(budget.learned().width.ceiling).toBe(2);
    expect(budget.learned().width.limit).toBe(2);
  });
});
