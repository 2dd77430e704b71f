import { execFileSync } from "node:child_process";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/controller/database/connect.ts";
import { prepareDatabase } from "../../src/controller/database/migrations.ts";
import { noticeRestore } from "../../src/controller/runs/restored.ts";
import { openPostgres } from "../support/postgres.ts";
import { giveAway } from "../support/unprivileged.ts";

const manifest = `INSERT INTO graphform.tenants VALUES ('shop');
  INSERT INTO graphform.manifests (tenant, name, source, auto, interval_seconds, next_due_at) VALUES ('shop', 'orders', '{}', 'safe', 60, now())`;
const run = `WITH run AS (INSERT INTO graphform.runs (manifest_id, tenant, kind, trigger, status, generation, actor)
  SELECT id, tenant, 'drift', 'schedule', 'blocked', 1, 'test' FROM graphform.manifests RETURNING id)
  INSERT INTO graphform.run_events (run_id, event) SELECT id, '{}' FROM run`;

it("a base backup that is started on its timeline is known by the file that PostgreSQL leaves, and by the events that a process has seen", async () => {
  const postgres = await openPostgres();
  const at = (login: string): string => `postgres://${login}@127.0.0.1:${postgres.port}/ops`;
  const open = (login: string) => openDatabase(at(login), () => undefined);
  await postgres.sql("CREATE ROLE plain LOGIN PASSWORD 'of-tests'");
  await postgres.sql("GRANT CREATE ON DATABASE ops TO plain");
  await prepareDatabase(at("plain:of-tests"));
  await postgres.sql(manifest);
  await postgres.sql(run);
  const superuser = `root:${postgres.password}`;
  const [before, plain] = [open(superuser), open("plain:of-tests")];
  const [after, other] = [open(superuser), open("plain:of-tests")];
  try {
    for (const database of [before, plain])
      expect(await noticeRestore(database, { isStart: true })).toBeUndefined();

    expect(postgres.log()).not.toContain("permission denied");

    // As pg_basebackup does it.
    const [row] = await postgres.sql("SHOW data_directory");
    const data = String(row?.["data_directory"]);
    const copy = `${data}-copy`;
    const session = await postgres.session();
    await session.query("SELECT pg_backup_start('copy', true)");
    execFileSync("cp", ["-a", data, copy]);
    const stopped = await session.query("SELECT labelfile FROM pg_backup_stop(false)");
    execFileSync("cp", ["-a", `${data}/pg_wal/.`, `${copy}/pg_wal`]);
    rmSync(join(copy, "postmaster.pid"));
    writeFileSync(join(copy, "backup_label"), String(stopped.rows[0]?.labelfile));
    giveAway(join(copy, "backup_label"));

    // What is done after the copy, and seen by a process that lives on.
    await postgres.sql(run);
    for (const database of [before, plain])
      expect(await noticeRestore(database, { isStart: false })).toBeUndefined();
    await postgres.kill();
    rmSync(data, { recursive: true });
    renameSync(copy, data);
    await postgres.start();

    // Without the right to look for the file, a process that starts cannot know it.
    expect(await noticeRestore(other, { isStart: true })).toBeUndefined();
    const marked = (): Promise<unknown> =>
      postgres.sql("SELECT FROM graphform.manifests WHERE restored_to IS NULL");
    expect(await marked()).toHaveLength(1);
    expect(await noticeRestore(plain, { isStart: false })).toBeInstanceOf(Date);
    expect(await marked()).toHaveLength(0);
    expect(await noticeRestore(plain, { isStart: false })).toBeUndefined();
    expect(await noticeRestore(after, { isStart: true })).toBeInstanceOf(Date);
    expect(await noticeRestore(after, { isStart: true })).toBeUndefined();
    await postgres.kill();
    await postgres.start();
    expect(
      await noticeRestore(after, { isStart: true }).catch(() => noticeRestore(after, { isStart: true })),
    ).toBeUndefined();
  } finally {
    for (const database of [before, plain, after, other]) await database.destroy();
    await postgres.close();
  }
}, 60_000);
