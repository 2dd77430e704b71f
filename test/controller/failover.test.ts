import type { ChildProcess } from "node:child_process";
import { execFileSync } from "node:child_process";
import { appendFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunRow } from "../../src/controller/database/schema.ts";
import { approveRun } from "../../src/controller/runs/decide.ts";
import { noticeRestore } from "../../src/controller/runs/restored.ts";
import { giveAway } from "../support/unprivileged.ts";
import { type Fleet, manifestText, openFleet } from "./support/fleet.ts";

/** PostgreSQL fails over to a standby that knows nothing after the moment of its copy: another timeline, on the same address. */
describe("a failover to a standby that was behind", () => {
  let fleet: Fleet;
  let worker: ChildProcess;
  beforeAll(async () => {
    fleet = await openFleet(["--delay", "create=2500"]);
    worker = await fleet.worker();
    expect(await noticeRestore(fleet.database, { isStart: true })).toBeUndefined();
  }, 60_000);
  afterAll(() => fleet.close());

  /** A standby as it is now; the result makes it the primary, after a crash of the present one. */
  const standby = async (): Promise<() => Promise<void>> => {
    const { postgres } = fleet;
    const [row] = await postgres.sql("SHOW data_directory");
    const data = String(row?.["data_directory"]);
    const copy = `${data}-standby`;
    const session = await postgres.session();
    await session.query("SELECT pg_backup_start('standby', true)");
    execFileSync("cp", ["-a", data, copy]);
    const stopped = await session.query("SELECT labelfile FROM pg_backup_stop(false)");
    execFileSync("cp", ["-a", `${data}/pg_wal/.`, `${copy}/pg_wal`]);
    rmSync(join(copy, "postmaster.pid"));
    writeFileSync(join(copy, "backup_label"), String(stopped.rows[0]?.labelfile));
    writeFileSync(join(copy, "recovery.signal"), "");
    appendFileSync(join(copy, "postgresql.auto.conf"), "restore_command = 'false'\n");
    for (const file of ["backup_label", "recovery.signal"]) giveAway(join(copy, file));
    return async () => {
      await postgres.kill();
      rmSync(data, { recursive: true });
      renameSync(copy, data);
      await postgres.start();
    };
  };

  const made = async (name: string): Promise<number> => {
    const creates = (await fleet.platform.writes()).filter(({ operation }) => /create/i.test(operation));
    return creates.filter(({ body }) => JSON.stringify(body).includes(`${name}-`)).length;
  };

  /** A run that was approved; no worker has it yet. */
  const approved = async (name: string): Promise<{ readonly manifest: string; readonly run: string }> => {
    // The minutes after the failover before are over.
    await fleet.postgres.sql("DELETE FROM graphform.origins WHERE part = 'failover'");
    const added = await fleet.add(name, manifestText(name, ["a", "b"]), "none");
    const { id, fingerprint } = await fleet.until(added.run, "needs_approval");
    worker.kill("SIGSTOP");
    await approveRun(fleet, { id, fingerprint: fingerprint ?? "", actor: "ada" });
    return added;
  };

  /** The minutes in which every process compares are over. */
  const settle = async (): Promise<void> => {
    await fleet.postgres.sql("UPDATE graphform.runs SET created_at = created_at - interval '1 hour'");
    await expect
      .poll(
        () =>
          fleet.postgres.sql(
            "UPDATE graphform.origins SET value = (value::timestamptz - interval '3 minutes')::text WHERE part = 'failover' RETURNING value",
          ),
        { timeout: 30_000 },
      )
      .toHaveLength(1);
  };

  const waiting = async (manifest: string): Promise<RunRow> => {
    const runs = fleet.database.selectFrom("runs").selectAll().where("manifest_id", "=", manifest);
    const found = runs.where("status", "=", "needs_approval");
    await expect.poll(() => found.execute().catch(() => []), { timeout: 60_000 }).toHaveLength(1);
    return found.executeTakeFirstOrThrow();
  };

  const isMarked = async (manifest: string): Promise<boolean> => {
    const rows = await fleet.postgres.sql("SELECT restored_to FROM graphform.manifests WHERE id = $1", [
      manifest,
    ]);
    return rows[0]?.["restored_to"] !== null;
  };

  it("that lost nothing holds runs back for some minutes, and then they go on by themselves", async () => {
    const { manifest, run } = await approved("whole");
    const failOver = await standby();
    await failOver();
    worker.kill("SIGCONT");
    await settle();
    expect(await fleet.until(run)).toMatchObject({ status: "applied" });
    expect([await made("whole"), await isMarked(manifest)]).toEqual([2, false]);
  }, 120_000);

  it("makes nothing twice that was applied since: the process that has seen it marks every manifest", async () => {
    const { manifest, run } = await approved("done");
    const failOver = await standby();
    worker.kill("SIGCONT");
    expect((await fleet.until(run)).status).toBe("applied");
    await failOver();
    expect((await waiting(manifest)).reasons[0]).toContain("put back from a copy");
    expect([await made("done"), (await fleet.run(run)).status]).toEqual([2, "superseded"]);
  }, 120_000);

  it("in the middle of an apply ends it, and the next plan names the ids of what it has made", async () => {
    const { manifest, run } = await approved("cut");
    const failOver = await standby();
    worker.kill("SIGCONT");
    await expect.poll(() => made("cut"), { timeout: 30_000 }).toBeGreaterThan(0);
    await failOver();
    await expect
      .poll(
        () => fleet.postgres.sql("SELECT details FROM graphform.audit WHERE action = 'unknown objects'"),
        {
          timeout: 60_000,
        },
      )
      .toMatchObject([
        {
          details: { run, objects: { "instances.a": expect.any(String), "instances.b": expect.any(String) } },
        },
      ]);
    expect(await isMarked(manifest)).toBe(true);
    expect(await made("cut")).toBe(2);
  }, 120_000);

  it("that ended every process too is not trusted: what may exist already is not made", async () => {
    const { manifest, run } = await approved("alone");
    const failOver = await standby();
    worker.kill("SIGCONT");
    expect((await fleet.until(run)).status).toBe("applied");
    worker.kill("SIGKILL");
    await failOver();
    worker = await fleet.worker();
    await settle();
    const { reasons } = await waiting(manifest);
    expect(reasons).toContain("instances.a: an object that may be this one exists");
    expect([await made("alone"), (await fleet.run(run)).status]).toEqual([2, "stale"]);
  }, 120_000);
});
