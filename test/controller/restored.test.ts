import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/controller/database/connect.ts";
import type { RunRow } from "../../src/controller/database/schema.ts";
import { startQueue } from "../../src/controller/queue/queue.ts";
import { approveRun, type DecidingWorld, requestRun, uploadFiles } from "../../src/controller/runs/decide.ts";
import { noticeRestore, takeForComplete } from "../../src/controller/runs/restored.ts";
import { isEnd } from "../../src/controller/runs/transitions.ts";
import { type Fleet, manifestText, openFleet } from "./support/fleet.ts";

/** Creates are slow enough that a copy is made in the middle of one. */
describe("a database that is put back from a copy", () => {
  let fleet: Fleet;
  const workers: ChildProcess[] = [];
  beforeAll(async () => {
    fleet = await openFleet(["--delay", "create=3000"]);
    workers.push(await fleet.worker());
    expect(await noticeRestore(fleet.database, { isStart: true })).toBeUndefined();
    expect(await noticeRestore(fleet.database, { isStart: true })).toBeUndefined();
  }, 60_000);
  afterAll(() => fleet.close());

  const open = async (url: string): Promise<DecidingWorld & { readonly close: () => Promise<void> }> => {
    const database = openDatabase(url, () => undefined);
    const queue = await startQueue(url, () => undefined);
    const close = async (): Promise<void> => {
      await queue.stop(1_000);
      await database.destroy();
    };
    return { database, queue, close };
  };

  const made = async (name: string): Promise<number> => {
    const writes = await fleet.platform.writes();
    const creates = writes.filter(({ operation, status }) => /create/i.test(operation) && status < 300);
    return creates.filter(({ body }) => JSON.stringify(body).includes(name)).length;
  };

  const newest = async (database: Database, manifest: string): Promise<RunRow> => {
    const runs = database.selectFrom("runs").selectAll().where("manifest_id", "=", manifest);
    return runs.orderBy("created_at", "desc").limit(1).executeTakeFirstOrThrow();
  };

  it("ends the runs of the copy, and makes nothing that exists already before a person has seen the plan", async () => {
    const orders = await fleet.add("orders", manifestText("orders", ["a"]));
    expect((await fleet.until(orders.run)).status).toBe("applied");
    const cut = await fleet.add("cut", manifestText("cut", ["a", "b"]));
    await fleet.until(cut.run, "applying");
    await expect.poll(() => made("cut-"), { timeout: 20_000 }).toBeGreaterThan(0);
    const url = await fleet.copy("older");
    // What is done after the copy.
    expect((await fleet.until(cut.run)).status).toBe("applied");
    const files = { "graphform.yaml": manifestText("orders", ["a", "b"]) };
    const newer = await uploadFiles(fleet, { id: orders.manifest, files, actor: "ada" });
    const added = await fleet.until("run" in newer ? (newer.run ?? "") : "", "needs_approval");
    // Databases without an engine answer no probe.
    if (added.status === "needs_approval")
      await approveRun(fleet, { id: added.id, fingerprint: added.fingerprint ?? "", actor: "ada" });
    expect((await fleet.until(added.id)).status).toBe("applied");
    for (const worker of workers.splice(0)) worker.kill("SIGKILL");

    const copy = await open(url);
    const to = await noticeRestore(copy.database, { isStart: true });
    expect(to?.getTime()).toBeLessThan(Date.now());
    const ended = await newest(copy.database, cut.manifest);
    expect(ended).toMatchObject({ status: "stale", exit_code: 6 });
    expect(ended.reasons[0]).toContain("put back from a copy");
    expect(await noticeRestore(copy.database, { isStart: true })).toBeUndefined();

    workers.push(await fleet.worker(url));
    const waits = async (manifest: string, asked: string): Promise<RunRow> => {
      for (;;) {
        const run = await copy.database
          .selectFrom("runs")
          .selectAll()
          .where("id", "=", asked)
          .executeTakeFirstOrThrow();
        if (run.status === "needs_approval" || isEnd(run.status)) return newest(copy.database, manifest);
        await pause(200);
      }
    };
    const again = await uploadFiles(copy, { id: orders.manifest, files, actor: "ada" });
    const waiting = await waits(orders.manifest, "run" in again ? (again.run ?? "") : "");
    expect(waiting).toMatchObject({ status: "needs_approval", verdict: "risky" });
    expect(waiting.reasons[0]).toContain("what was made or changed since is not known here");
    const rest = await requestRun(copy, { id: cut.manifest, actor: "ada" });
    expect((await waits(cut.manifest, "run" in rest ? rest.run : "")).status).not.toBe("applied");
    expect(await made("orders-b")).toBe(1);
    expect(await made("cut-")).toBe(2);

    const { id, fingerprint } = waiting;
    const approved = await approveRun(copy, { id, fingerprint: fingerprint ?? "", actor: "ada" });
    expect(approved).toBe("approved");
    const marks = copy.database.selectFrom("manifests").select(["name", "restored_to"]).orderBy("name");
    expect(await marks.execute()).toEqual([
      { name: "cut", restored_to: to },
      { name: "orders", restored_to: null },
    ]);
    await copy.database.transaction().execute((tx) => takeForComplete(tx, "ada"));
    expect((await marks.execute()).map(({ restored_to }) => restored_to)).toEqual([null, null]);
    await copy.close();
  }, 180_000);

  it("is told from a failover, which a process that lives through it knows by the timeline alone", async () => {
    const { database } = fleet;
    const change = (part: "timeline" | "tables") =>
      database.updateTable("origins").set({ value: "another" }).where("part", "=", part).execute();
    await change("timeline");
    expect(await noticeRestore(database, { isStart: false })).toBeUndefined();
    await change("timeline");
    expect(await noticeRestore(database, { isStart: true })).toBeInstanceOf(Date);
    await change("tables");
    expect(await noticeRestore(database, { isStart: false })).toBeInstanceOf(Date);
  });
});
