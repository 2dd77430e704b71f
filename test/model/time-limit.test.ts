import { describe, expect, it } from "vitest";
import { exitCodes } from "../../src/model/errors.ts";
import { isTimeUp, limitedClock } from "../../src/model/time-limit.ts";
import { virtualClock } from "../support/virtual-clock.ts";

describe("a clock with a limit", () => {
  it("lets sleeps take that long together, counted from the first one", async () => {
    const whole = virtualClock();
    const clock = limitedClock(whole, 10_000);
    const work = async (): Promise<unknown> => {
      await whole.sleep(60_000);
      await clock.sleep(4000);
      await whole.sleep(1000);
      await clock.sleep(5000);
      return clock.sleep(1).catch((thrown: unknown) => thrown);
    };
    const begun = whole.now();
    const error = await whole.drive(work());
    expect(isTimeUp(error)).toBe(true);
    expect(error).toMatchObject({
      exitCode: exitCodes.converging,
      message: "this has waited for the 10 s that --timeout allows",
    });
    expect(whole.now() - begun).toBe(70_000);
  });

  it("sleeps until its end before it says so", async () => {
    const whole = virtualClock();
    const begun = whole.now();
    await expect(whole.drive(limitedClock(whole, 500).sleep(3_600_000))).rejects.toMatchObject({
      code: "time-up",
    });
    expect(whole.now() - begun).toBe(500);
  });

  it("without one is the clock as it is", () => {
    const clock = virtualClock();
    expect(limitedClock(clock, undefined)).toBe(clock);
  });
});
