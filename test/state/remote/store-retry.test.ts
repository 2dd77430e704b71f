import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/model/clock.ts";
import { busyOr, unreachable } from "../../../src/state/remote/store-refusals.ts";
import { untilAnswered } from "../../../src/state/remote/store-retry.ts";

const where = "https://store.test/orders";

/** A clock whose waits take no time, and how long they would have taken. */
function countingClock(): { readonly clock: Clock; readonly waited: readonly number[] } {
  const waited: number[] = [];
  let now = 0;
  const sleep = async (ms: number): Promise<void> => {
    waited.push(ms);
    now += ms;
  };
  return { clock: { now: () => now, random: () => 0.5, sleep }, waited };
}

describe("a store that says how long to wait", () => {
  it("is waited for so long, and not less", async () => {
    const { clock, waited } = countingClock();
    let asked = 0;
    const answer = await untilAnswered(
      async () => {
        asked += 1;
        if (asked < 3) throw busyOr(where, "answered 429 to write the state", { "retry-after": "2" });
        return "done";
      },
      { clock },
    );
    expect(answer).toBe("done");
    expect(waited).toEqual([2000, 2000]);
  });

  it.each([
    ["3600", {}],
    ["Sun, 22 Nov 2026 11:00:00 GMT", { date: "Sun, 22 Nov 2026 10:00:00 GMT" }],
  ])("is not asked again where that is longer than a lease allows: %s", async (after, more) => {
    const { clock, waited } = countingClock();
    let asked = 0;
    const work = async (): Promise<never> => {
      asked += 1;
      throw busyOr(where, "answered 429 to write the state", { "retry-after": after, ...more });
    };
    await expect(untilAnswered(work, { clock, longest: 40_000 })).rejects.toMatchObject({
      code: "state-unreachable",
      message: `the state store ${where} answered 429 to write the state, and asks to wait for 3600 s before the next request`,
      hint: "the store runs and refuses for now; wait for 3600 s, then run the command again",
    });
    expect([asked, waited]).toEqual([1, []]);
  });

  it("is not waited for more than that in all", async () => {
    const { clock, waited } = countingClock();
    const work = async (): Promise<never> => {
      throw busyOr(where, "answered 503", { "retry-after": "15" });
    };
    await expect(untilAnswered(work, { clock, longest: 40_000 })).rejects.toThrow("wait for 15 s");
    expect(waited).toEqual([15_000, 15_000]);
  });

  it.each(["", "soon", "-1", "0"])("is asked as before where it says nothing: '%s'", async (after) => {
    const { clock, waited } = countingClock();
    const work = async (): Promise<never> => {
      throw busyOr(where, "answered 503", { "retry-after": after });
    };
    await expect(untilAnswered(work, { clock })).rejects.toThrow("answered 503");
    expect(waited).toHaveLength(5);
  });

  it("does not count the time that a process was stopped against a request that lost its answer", async () => {
    const { clock } = countingClock();
    let asked = 0;
    const work = async (): Promise<string> => {
      asked += 1;
      if (asked > 1) return "done";
      await clock.sleep(85_000);
      throw unreachable(where, "ended the connection");
    };
    expect(await untilAnswered(work, { clock, longest: 40_000 })).toBe("done");
  });
});

describe("a store that hangs", () => {
  it.each<[reason: string, hangs: number, asked: number]>([
    ["a refusal at once is repeated", 0, 6],
    ["a short wait is no hanging", 5000, 6],
    ["a request that hung is sent once more, and no oftener", 30_000, 2],
  ])("%s (%i ms)", async (_, hangs, expected) => {
    const { clock } = countingClock();
    let asked = 0;
    const work = async (): Promise<never> => {
      asked += 1;
      await clock.sleep(hangs);
      throw unreachable(where, "did not answer");
    };
    await expect(untilAnswered(work, { clock })).rejects.toMatchObject({ code: "state-unreachable" });
    expect(asked).toBe(expected);
  });
});
