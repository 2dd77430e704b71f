import { afterAll, beforeAll, expect, it } from "vitest";
import { manifestsOf } from "../../src/controller/http/rows.ts";
import { approveRun, cancelRun } from "../../src/controller/runs/decide.ts";
import { type Fleet, manifestText, openFleet } from "./support/fleet.ts";

/** The tenant applies one manifest at a time, and creates take a while. */
let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet(["--delay", "create=20000"], ["shop"], 1);
  await fleet.worker();
}, 60_000);
afterAll(() => fleet.close());

const jobs = async (): Promise<number> => {
  const open = "SELECT FROM graphform_queue.job WHERE name = 'apply' AND state < 'completed'";
  return (await fleet.postgres.sql(open)).length;
};

it("approved runs of a tenant that applies as many as it may have no job until one ends, and begin then", async () => {
  const runs: string[] = [];
  for (const name of ["a", "b", "c"])
    runs.push((await fleet.add(name, manifestText(name, ["x"]), "none")).run);
  const [first = "", second = "", third = ""] = runs;
  for (const id of runs) {
    const { fingerprint } = await fleet.until(id, "needs_approval");
    expect(await approveRun(fleet, { id, fingerprint: fingerprint ?? "", actor: "ada" })).toBe("approved");
    if (id === first) await fleet.until(id, "applying");
  }
  await expect.poll(jobs, { timeout: 18_000 }).toBe(1);
  const listed = await manifestsOf(fleet.database, []).where("name", "=", "b").executeTakeFirst();
  expect(listed).toMatchObject({
    status: "approved",
    why: expect.stringContaining("; 1 of its tenant at work"),
  });
  // One that ends while it waits keeps the next one from nothing.
  expect(await cancelRun(fleet, { id: second, actor: "ada" })).toBe("canceled");
  expect((await fleet.until(third)).status).toBe("applied");
  const { status, ended_at } = await fleet.run(first);
  const [begun] = await fleet.postgres.sql(
    "SELECT min(at) AS at FROM graphform.run_events WHERE run_id = $1 AND event ->> 'to' = 'applying'",
    [third],
  );
  expect(status).toBe("applied");
  expect(Number(begun?.["at"])).toBeGreaterThanOrEqual(Number(ended_at));
  expect(fleet.postgres.log()).not.toContain("deadlock");
}, 180_000);
