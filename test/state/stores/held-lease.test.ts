import { describe, expect, it } from "vitest";
import { GraphformError } from "../../../src/model/errors.ts";
import { defined } from "../../../src/model/json.ts";
import { type HeldLease, holdLease, type LeaseClock } from "../../../src/state/held-lease.ts";
import type { Lease, Renewed, StateDriver } from "../../../src/state/remote/driver.ts";
import { memoryBackend, memoryDriver } from "./memory-driver.ts";

const start = Date.UTC(2026, 0, 1);
const minute = 60_000;

interface Bench {
  readonly held: HeldLease;
  /** Moves both clocks, and beats as often as the timer would. */
  pass(ms: number): Promise<void>;
  /** Moves one clock alone, as a machine that sleeps or whose time is set. */
  move(clock: "monotonic" | "wall", ms: number): void;
  readonly renewals: () => number;
}

function bench(
  renew?: (lease: Lease) => Promise<Renewed>,
  expires = true,
  release?: () => Promise<void>,
  patience = 20_000,
  isUnchanged?: () => Promise<boolean>,
): Bench {
  const times = { monotonic: 0, wall: start };
  let renewals = 0;
  let beat: () => void = () => undefined;
  let period = minute;
  const memory = memoryDriver(
    memoryBackend(() => times.wall),
    { expires },
  );
  const driver: StateDriver = {
    ...memory,
    ...defined({ release }),
    renew: async (lease) => {
      renewals += 1;
      return renew === undefined ? { is: "renewed", lease } : renew(lease);
    },
  };
  const at = new Date(start).toISOString();
  const holder = { who: "me@here", pid: 1, host: "here", operation: "apply", created: at, heartbeat: at };
  const lease = { holder: { ...holder, id: "id-1", expires: at }, token: "1" };
  const time: LeaseClock = {
    clock: { now: () => times.wall, random: () => 0.5, sleep: async () => undefined },
    monotonic: () => times.monotonic,
    patience,
    every: (ms, again) => {
      [period, beat] = [ms, again];
      return () => {
        beat = () => undefined;
      };
    },
  };
  const held = holdLease(driver, lease, minute, time, isUnchanged);
  return {
    held,
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += period) {
        times.monotonic += period;
        times.wall += period;
        beat();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    move(clock, ms) {
      times[clock] += ms;
    },
    renewals: () => renewals,
  };
}

const unreachable = async (): Promise<never> => {
  throw new GraphformError("state-unreachable", "nobody answers");
};

describe("a lease that is held", () => {
  it("is renewed every third of its time, and stays ours", async () => {
    const { held, pass, renewals } = bench();
    await pass(10 * minute);
    expect(held.lost.aborted).toBe(false);
    expect(renewals()).toBe(30);
  });

  it("is lost after two thirds without a renewal, and the reason says why", async () => {
    const { held, pass } = bench(unreachable);
    await pass(35_000);
    expect(held.lost.aborted).toBe(false);
    await pass(5000);
    expect(held.lost.reason).toMatchObject({
      code: "lock-lost",
      exitCode: 1,
      message: expect.stringMatching(/could not be renewed for 40 s while apply was at work: nobody answers/),
    });
    expect(held.ended.aborted).toBe(true);
  });

  it("says that the store did not answer, and for how long, where a renewal is still on its way", async () => {
    const { held, pass } = bench(() => new Promise(() => undefined));
    await pass(40_000);
    expect(held.lost.reason).toMatchObject({
      code: "lock-lost",
      message: expect.stringMatching(/: the state store memory:\/\/shop has not answered for 20 s$/),
    });
  });

  it("says that the process was stopped where it was, whatever was on its way then", async () => {
    const { held, pass, move } = bench(() => new Promise(() => undefined));
    await pass(25_000);
    move("wall", 60_000);
    await held.look();
    expect(held.lost.reason).toMatchObject({ message: expect.stringMatching(/this process was stopped/) });
  });

  it.each(["monotonic", "wall"] as const)("is lost when the %s clock alone says so", async (clock) => {
    const { held, move, renewals } = bench();
    move(clock, 39_999);
    await held.look();
    expect(held.lost.aborted).toBe(false);
    move(clock, 1);
    await held.look();
    expect(held.lost.aborted).toBe(true);
    expect(renewals()).toBe(0);
  });

  it("is lost though the wall clock was set back", async () => {
    const { held, move } = bench();
    move("wall", -3_600_000);
    move("monotonic", 40_000);
    await held.look();
    expect(held.lost.aborted).toBe(true);
  });

  it("counts from before the request that renewed it, however late the answer comes", async () => {
    let answer: (renewed: Renewed) => void = () => undefined;
    const { held, move } = bench(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const renewing = held.renew();
    await new Promise((resolve) => setImmediate(resolve));
    move("monotonic", 41_000);
    answer({ is: "renewed", lease: held.current() });
    await renewing;
    expect(held.lost.aborted).toBe(true);
  });

  it("is lost at once when it is another's, who is named", async () => {
    const to = {
      ...bench().held.current().holder,
      id: "id-2",
      who: "ada@there",
      pid: 71,
      operation: "destroy",
    };
    const { held } = bench(async () => ({ is: "lost", to }));
    await held.renew();
    expect(held.lost.reason).toMatchObject({
      code: "lock-lost",
      message: expect.stringContaining("by ada@there (process 71) for destroy"),
    });
  });

  it("is not lost by time where locks do not expire", async () => {
    const { held, pass } = bench(unreachable, false);
    await pass(60 * minute);
    expect(held.lost.aborted).toBe(false);
  });

  it("asks for nothing more once it is lost, or given back", async () => {
    const { held, move, renewals, pass } = bench();
    move("monotonic", minute);
    await held.renew();
    await pass(10 * minute);
    expect(renewals()).toBe(0);
    const other = bench();
    await other.held.release();
    await other.pass(10 * minute);
    expect(other.renewals()).toBe(0);
  });

  it("is proved again after 40 s where locks do not expire, once for all that wait", async () => {
    const { held, move, renewals } = bench(undefined, false);
    move("wall", 39_999);
    await held.look();
    expect(renewals()).toBe(0);
    move("wall", 1);
    await Promise.all([held.look(), held.look(), held.look()]);
    expect(renewals()).toBe(1);
    expect(held.lost.aborted).toBe(false);
  });

  it("ends where nobody answers to that proof", async () => {
    const { held, move } = bench(unreachable, false);
    move("monotonic", 40_000);
    await held.look();
    expect(held.lost.reason).toMatchObject({
      code: "lock-lost",
      message: expect.stringContaining("nobody answers"),
    });
  });

  it.each([true, false])(
    "lets a request leave at once only while its proof is fresh; expires: %s",
    (expires) => {
      const { held, move } = bench(undefined, expires);
      move("wall", 39_999);
      expect(held.look()).toBeUndefined();
      move("wall", 1);
      expect(held.look()).toBeInstanceOf(Promise);
      expect(held.look()).toBeInstanceOf(Promise);
    },
  );

  it("says that it could not be given back, and who can", async () => {
    const refuse = async (): Promise<never> => {
      throw new GraphformError("state-unreachable", "the store answered 500");
    };
    expect(await bench(undefined, false, refuse).held.release()).toMatch(
      /^the lock id-1 of me@here .* left standing \(the store answered 500\); it never ends by itself: graphform state unlock id-1$/,
    );
    expect(await bench(undefined, true, refuse).held.release()).toMatch(
      /it ends by itself at 2026-01-01T00:00:00.000Z, or with graphform state unlock id-1 --force$/,
    );
    expect(await bench(undefined, false).held.release()).toBeUndefined();
  });

  it("is given back by its id where somebody else has written: that alone does not say that it is theirs", async () => {
    const freed: string[] = [];
    const free = async (): Promise<void> => void freed.push("id-1");
    const { held } = bench(undefined, false, free, undefined, async () => false);
    await held.renew();
    expect(held.lost.reason).toMatchObject({ code: "lock-lost" });
    expect(await held.release()).toBeUndefined();
    expect(freed).toEqual(["id-1"]);
  });

  it("is not warned of where it is gone by then, and is where nobody answers", async () => {
    const refuse = (code: string) => async (): Promise<never> => {
      throw new GraphformError(code, "it is another one's, or gone");
    };
    const gone = bench(undefined, false, refuse("lock-unknown"), undefined, async () => false);
    await gone.held.renew();
    expect(await gone.held.release()).toBeUndefined();
    const away = bench(undefined, false, refuse("state-unreachable"), undefined, async () => false);
    await away.held.renew();
    expect(await away.held.release()).toMatch(/left standing .*graphform state unlock id-1$/);
  });

  it("gives up a store that does not answer to that", async () => {
    const { held } = bench(undefined, false, () => new Promise(() => undefined), 1);
    expect(await held.release()).toMatch(/may be left standing/);
  });
});
