import { afterAll, beforeAll, expect, it } from "vitest";
import { manifestsOf } from "../../src/controller/http/rows.ts";
import { type Fleet, manifestText, openFleet } from "./support/fleet.ts";

/** The only worker has a clock that is an hour ahead of the database's. */
let fleet: Fleet;
let said = "";
beforeAll(async () => {
  fleet = await openFleet(["--delay", "create=4000"]);
  const worker = await fleet.worker(fleet.url, 3_600_000);
  worker.stderr?.on("data", (text: Buffer) => {
    said += text;
  });
}, 60_000);
afterAll(() => fleet.close());

/** Adds a manifest whose object is at the service under its name, and bound by no state. */
async function addTwin(name: string): Promise<string> {
  await fleet.postgres.sql("DELETE FROM graphform.states WHERE name = $1", [`shop/${name}`]);
  return (await fleet.add(`${name}-again`, manifestText(name, ["a"]))).run;
}

it("a worker whose clock is wrong says so, and every time in the database is the database's", async () => {
  const { run } = await fleet.add("first", manifestText("first", ["a"]));
  expect((await fleet.until(run)).status).toBe("applied");
  const ahead = await fleet.postgres.sql(`
    SELECT * FROM (
      SELECT updated_at AS at FROM graphform.runs UNION SELECT ended_at FROM graphform.runs
      UNION SELECT checked_at FROM graphform.manifests UNION SELECT at FROM graphform.audit
      UNION SELECT seen_at FROM graphform.workers UNION SELECT started_at FROM graphform.workers) AS times
    WHERE at > clock_timestamp()`);
  expect(ahead).toEqual([]);
  expect(said).toContain("this machine's clock differs by 3600 s from the database's");
});

it("a run waits for neighbours that are at work, with a reason, and not for one that ended by a wrong clock", async () => {
  const { run } = await fleet.add("busy", manifestText("busy", ["a"]));
  await fleet.until(run, "applying");
  const twin = await addTwin("first");
  const why = async () =>
    (await manifestsOf(fleet.database, []).where("name", "=", "first-again").executeTakeFirst())?.why;
  await expect
    .poll(why, { timeout: 30_000, interval: 100 })
    .toContain("runs on the same service are at work");
  expect((await fleet.until(run)).status).toBe("applied");
  expect(await fleet.until(twin, "needs_approval")).toMatchObject({
    reasons: expect.arrayContaining([expect.stringContaining("an object that may be this one exists")]),
  });
}, 90_000);
