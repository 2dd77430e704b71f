import { describe, expect, it } from "vitest";
import { createBudget } from "../../src/hosting/budget.ts";
import { createHedge } from "../../src/hosting/hedge.ts";
import { virtualClock } from "../support/virtual-clock.ts";
import { always } from "./service-of.ts";

/** An answer that takes its time, or fails after it. */
type Ask = readonly [ms: number, answer: string | Error];

async function asked(
  ...asks: readonly Ask[]
): Promise<{ readonly end: string; readonly at: number; readonly times: number }> {
  const clock = virtualClock();
  const hedge = createHedge(clock);
  const started = clock.now();
  let times = 0;
  const ask = async (): Promise<string> => {
    const [ms = 0, answer = ""] = asks[times] ?? [];
    times += 1;
    await clock.sleep(ms);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const end = hedge.ask(ask, ask).catch((error: Error) => `failed: ${error.message}`);
  const result = await clock.drive(end);
  return { end: result, at: clock.now() - started, times };
}

const cut = new Error("cut");
const other = new Error("other");

describe("an answer that is late", () => {
  it.each<[string, readonly Ask[], string, number, number]>([
    [
      "is asked for again, and the second one counts",
      [
        [4000, "first"],
        [50, "second"],
      ],
      "second",
      1050,
      2,
    ],
    [
      "counts where it comes before the second one",
      [
        [1200, "first"],
        [900, "second"],
      ],
      "first",
      1200,
      2,
    ],
    [
      "is waited for where the second one fails",
      [
        [4000, "first"],
        [50, cut],
      ],
      "first",
      4000,
      2,
    ],
    [
      "that fails leaves it to the second one",
      [
        [1500, cut],
        [2000, "second"],
      ],
      "second",
      3000,
      2,
    ],
    [
      "is a failure where both fail, and the first says why",
      [
        [1500, cut],
        [2000, other],
      ],
      "failed: cut",
      3000,
      2,
    ],
  ])("%s", async (_, asks, end, at, times) => {
    expect(await asked(...asks)).toEqual({ end, at, times });
  });

  it.each<[string, readonly Ask[], string]>([
    ["an answer", [[999, "first"]], "first"],
    ["a failure", [[999, cut]], "failed: cut"],
  ])("is not what comes in time: %s", async (_, asks, end) => {
    expect(await asked(...asks)).toEqual({ end, at: 999, times: 1 });
  });
});

it("an answer that is late and then a failure does not wait for one that waits behind it", async () => {
  const clock = virtualClock();
  const hedge = createHedge(clock);
  const budget = createBudget(clock, 1);
  const ticket = budget.ticket("thing.get");
  const missing = async (): Promise<void> => {
    await clock.sleep(1500);
    throw new Error("not found");
  };
  const again = (notNeeded: AbortSignal): Promise<void> => budget.run("platform", ticket, missing, notNeeded);
  const asked = budget.run("platform", ticket, () => hedge.ask(missing, again), always);
  await expect(clock.drive(asked)).rejects.toThrow("not found");
});

it("what is slow as a rule is not late", async () => {
  const clock = virtualClock();
  const hedge = createHedge(clock);
  let times = 0;
  const ask = async (): Promise<void> => {
    times += 1;
    await clock.sleep(900);
  };
  for (let round = 0; round < 5; round += 1) await clock.drive(hedge.ask(ask, ask));
  const slow = async (): Promise<void> => {
    times += 1;
    await clock.sleep(3500);
  };
  await clock.drive(hedge.ask(slow, slow));
  expect(times).toBe(6);
});
