import { afterAll, beforeAll, expect, it } from "vitest";
import { installQueue } from "../../src/controller/queue/queue.ts";
import { tick } from "../../src/controller/runs/tick.ts";
import { openApi, type TestApi } from "./http/open-api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await openApi();
}, 120_000);
afterAll(() => api?.close());

/** A manifest whose first run has ended, and whose check is due. */
async function due(name: string): Promise<string> {
  const { manifest, run } = await api.add("shop", name);
  await api.put(run, { status: "planned_and_finished", ended_at: new Date() });
  await api.postgres.sql(
    "UPDATE graphform.manifests SET next_due_at = now() - interval '1 minute' WHERE id = $1",
    [manifest],
  );
  return manifest;
}

async function checks(manifest: string): Promise<number> {
  const rows = await api.postgres.sql(
    "SELECT FROM graphform.runs WHERE manifest_id = $1 AND kind = 'drift'",
    [manifest],
  );
  return rows.length;
}

const beat = (): Promise<void> =>
  tick({ ...api, config: { current: () => api.config, reload: async () => undefined } });

it("leaves a manifest whose row is locked to the next tick, and begins the checks of the others", async () => {
  const [held, free] = [await due("held"), await due("free")];
  const session = await api.postgres.session();
  await session.query("BEGIN");
  await session.query(`SELECT FROM graphform.manifests WHERE id = '${held}' FOR UPDATE`);
  await beat();
  expect([await checks(held), await checks(free)]).toEqual([0, 1]);
  await session.query("ROLLBACK");
  await beat();
  expect([await checks(held), await checks(free)]).toEqual([1, 1]);
}, 120_000);

it("does everything else if the check of a manifest cannot be begun, and says the error", async () => {
  const [broken, well] = [await due("broken"), await due("well")];
  const { run } = await api.add("shop", "forgotten");
  await api.postgres.sql("DELETE FROM graphform_queue.job WHERE singleton_key = $1", [run]);
  await api.postgres.sql("UPDATE graphform.runs SET updated_at = now() - interval '1 hour' WHERE id = $1", [
    run,
  ]);
  await api.postgres.sql(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.manifest_id = '${broken}' THEN RAISE EXCEPTION 'no check of this one'; END IF; RETURN NEW; END $$`);
  await api.postgres.sql(
    "CREATE TRIGGER refuse BEFORE INSERT ON graphform.runs FOR EACH ROW EXECUTE FUNCTION refuse()",
  );
  await expect(beat()).rejects.toThrow("no check of this one");
  expect([await checks(broken), await checks(well)]).toEqual([0, 1]);
  const jobs = await api.postgres.sql("SELECT FROM graphform_queue.job WHERE singleton_key = $1", [run]);
  expect(jobs).toHaveLength(1);
}, 120_000);

it("forgets checks that ended a day ago, but not the newest of a manifest, nor the run of the newest event", async () => {
  const ended = "status = 'planned_and_finished', ended_at = now() - interval '2 days'";
  const older: string[] = [];
  for (const name of ["quiet", "quieter"]) {
    const { manifest, run } = await api.add("shop", name);
    older.push(run);
    await api.postgres.sql(
      `UPDATE graphform.runs SET ${ended}, created_at = now() - interval '3 days' WHERE id = $1`,
      [run],
    );
    await api.postgres.sql(
      `INSERT INTO graphform.runs (manifest_id, tenant, kind, trigger, status, generation, actor, ended_at)
      VALUES ($1, 'shop', 'drift', 'schedule', 'planned_and_finished', 1, 'test', now() - interval '2 days')`,
      [manifest],
    );
  }
  const [first, last] = older;
  await api.postgres.sql("INSERT INTO graphform.run_events (run_id, event) VALUES ($1, '{}')", [last]);
  // A check cannot be begun since the test before.
  await expect(beat()).rejects.toThrow("no check of this one");
  const left =
    "SELECT r.id FROM graphform.runs r JOIN graphform.manifests m ON m.id = r.manifest_id WHERE m.name LIKE 'quiet%'";
  const ids = (await api.postgres.sql(left)).map(({ id }) => id);
  expect(ids).toHaveLength(3);
  expect(ids).toContain(last);
  expect(ids).not.toContain(first);
}, 120_000);

it("has a heartbeat also in a queue that an earlier version made; a notification is queued while one is active", async () => {
  await api.postgres.sql("UPDATE graphform_queue.queue SET policy = 'exclusive', heartbeat_seconds = NULL");
  await installQueue(`postgres://root:${api.postgres.password}@127.0.0.1:${api.postgres.port}/ops`);
  const queues = await api.postgres.sql(
    "SELECT name, policy, heartbeat_seconds::int AS heartbeat FROM graphform_queue.queue WHERE name IN ('tick', 'notify') ORDER BY name",
  );
  expect(queues).toEqual([
    { name: "notify", policy: "stately", heartbeat: null },
    { name: "tick", policy: "exclusive", heartbeat: 30 },
  ]);
  const { queue, database } = api;
  const send = (): Promise<void> =>
    database.transaction().execute((tx) => queue.send(tx, "notify", "m", { manifest: "m" }));
  const active = Promise.withResolvers<void>();
  let told = 0;
  await queue.work("notify", 1, async () => {
    told += 1;
    if (told > 1) return;
    // What is asked for while the first one is at work, twice.
    await send();
    await send();
    active.resolve();
  });
  await send();
  await active.promise;
  await expect.poll(() => told, { timeout: 20_000 }).toBe(2);
}, 120_000);
