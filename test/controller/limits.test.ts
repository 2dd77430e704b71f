import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cancelRun } from "../../src/controller/runs/decide.ts";
import { tick } from "../../src/controller/runs/tick.ts";
import { type Fleet, manifestText, openFleet } from "./support/fleet.ts";

/** Each tenant applies one manifest at a time, and creates take a while. */
describe("runs of a tenant that applies as many as it may", () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await openFleet(["--delay", "create=6000"], ["shop"], 1);
    await fleet.worker();
  }, 60_000);
  afterAll(() => fleet.close());

  const jobs = async (): Promise<number> => {
    const open = "SELECT FROM graphform_queue.job WHERE name = 'apply' AND state < 'completed'";
    return (await fleet.postgres.sql(open)).length;
  };
  const statuses = async (runs: readonly string[]): Promise<readonly string[]> => {
    const found = await Promise.all(runs.map((run) => fleet.run(run)));
    return found.map(({ status }) => status).sort();
  };

  it("have no job until one ends, begin one after the other, and are carried on by the tick after a cancel", async () => {
    const added = await Promise.all(
      ["a", "b", "c", "d"].map((name) => fleet.add(name, manifestText(name, ["x"]))),
    );
    const runs = added.map(({ run }) => run);
    await expect
      .poll(() => statuses(runs), { timeout: 60_000 })
      .toEqual(["applying", "approved", "approved", "approved"]);
    await expect.poll(jobs, { timeout: 20_000 }).toBe(1);
    const ended = async (): Promise<number> =>
      (await statuses(runs)).filter((status) => status === "applied").length;
    while ((await ended()) < 2) {
      expect((await statuses(runs)).filter((status) => status === "applying").length).toBeLessThan(2);
      await pause(100);
    }
    // The one that begins next is canceled before its job is fetched, or at its first step: the last one must not wait for it.
    const left = (await Promise.all(runs.map((run) => fleet.run(run)))).filter(
      ({ ended_at }) => ended_at === null,
    );
    await cancelRun(fleet, { id: left[0]?.id ?? "", actor: "ada" });
    await tick(fleet);
    for (const run of runs) await fleet.until(run);
    expect(await statuses(runs)).toEqual(["applied", "applied", "applied", "canceled"]);
    expect(fleet.postgres.log()).not.toContain("deadlock");
  }, 180_000);
});
