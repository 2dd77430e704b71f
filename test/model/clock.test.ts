import { describe, expect, it, vi } from "vitest";
import { type Clock, systemClock } from "../../src/model/clock.ts";
import { virtualClock } from "../support/virtual-clock.ts";

describe("the real clock", () => {
  it("sleeps as long as it is told", async () => {
    vi.useFakeTimers();
    const slept = systemClock.sleep(1000);
    await vi.advanceTimersByTimeAsync(999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await expect(slept).resolves.toBeUndefined();
    vi.useRealTimers();
  });

  const stop = (): AbortController => new AbortController();
  it("wakes up when it is interrupted, and leaves no timer behind", async () => {
    vi.useFakeTimers();
    const controller = stop();
    const slept = systemClock.sleep(1000, controller.signal);
    controller.abort(new Error("interrupted"));
    await expect(slept).rejects.toThrow("interrupted");
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("does not fall asleep after that", async () => {
    const controller = stop();
    controller.abort(new Error("interrupted"));
    await expect(systemClock.sleep(1000, controller.signal)).rejects.toThrow("interrupted");
  });
});

/** Ten workers that sleep, five times each, for as long as chance says. */
async function story(clock: Clock): Promise<readonly string[]> {
  const told: string[] = [];
  const start = clock.now();
  const worker = async (name: number): Promise<void> => {
    for (let nap = 0; nap < 5; nap += 1) {
      await clock.sleep(Math.floor(clock.random() * 3) * 1000);
      told.push(`${name} at ${clock.now() - start}`);
    }
  };
  await Promise.all(Array.from({ length: 10 }, (_, name) => worker(name)));
  return told;
}

describe("the virtual clock", () => {
  const tell = (seed: number): Promise<readonly string[]> => {
    const clock = virtualClock(seed);
    return clock.drive(story(clock));
  };

  it("tells one story for one seed, and another one for another", async () => {
    expect(await tell(7)).toEqual(await tell(7));
    expect(await tell(8)).not.toEqual(await tell(7));
  });

  it("never goes back, and takes no time at all", async () => {
    const times = (await tell(7)).map((text) => Number(text.split(" at ")[1]));
    expect(times).toEqual([...times].sort((one, other) => one - other));
    const clock = virtualClock();
    const before = clock.now();
    // A year that passed would outlast the test.
    await clock.drive(clock.sleep(365 * 24 * 3_600_000));
    expect(clock.now() - before).toBe(365 * 24 * 3_600_000);
  });

  it("hands on how a promise ends", async () => {
    const clock = virtualClock();
    await expect(clock.drive(clock.sleep(10).then(() => "done"))).resolves.toBe("done");
    await expect(clock.drive(clock.sleep(10).then(() => Promise.reject(new Error("no"))))).rejects.toThrow(
      "no",
    );
  });

  it("notices a wait for what will never happen", async () => {
    await expect(virtualClock().drive(new Promise(() => {}))).rejects.toThrow(
      "nothing is left that could happen",
    );
  });

  it("interrupts a sleep", async () => {
    const clock = virtualClock();
    const controller = new AbortController();
    void clock.sleep(5).then(() => controller.abort(new Error("interrupted")));
    await expect(clock.drive(clock.sleep(1000, controller.signal))).rejects.toThrow("interrupted");
    expect(clock.now() - Date.UTC(2026, 0, 1)).toBe(5);
  });
});
