import { type ChildProcess, execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../src/controller/database/connect.ts";
import type { RunRow } from "../../src/controller/database/schema.ts";
import { startQueue } from "../../src/controller/queue/queue.ts";
import {
  approveRun,
  type DecisionContext,
  requestRun,
  uploadFiles,
} from "../../src/controller/runs/decide.ts";
import { noticeRestore, takeForComplete } from "../../src/controller/runs/restored.ts";
import { isEnd } from "../../src/controller/runs/transitions.ts";
import { type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openFolder } from "../support/unprivileged.ts";
import { openWorkspace } from "../support/workspace.ts";
import { type Fleet, manifestText, openFleet } from "./support/fleet.ts";
import { type Served, startServed } from "./support/serve.ts";

/** Creates that the service took, of databases whose name has this part. */
async function madeAt(platform: LocalPlatform, name: string): Promise<number> {
  const writes = await platform.writes();
  const creates = writes.filter(({ operation, status }) => /create/i.test(operation) && status < 300);
  return creates.filter(({ body }) => JSON.stringify(body).includes(name)).length;
}

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

  const open = async (url: string): Promise<DecisionContext & { readonly close: () => Promise<void> }> => {
    const database = openDatabase(url, () => undefined);
    const queue = await startQueue(url, () => undefined);
    const close = async (): Promise<void> => {
      await queue.stop(1_000);
      await database.destroy();
    };
    return { database, queue, close };
  };

  const made = (name: string): Promise<number> => madeAt(fleet.platform, name);

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
    expect(waiting.reasons[0]).toContain("it may not be known here what was made or changed");
    const rest = await requestRun(copy, { id: cut.manifest, actor: "ada" });
    expect((await waits(cut.manifest, "run" in rest ? rest.run : "")).status).not.toBe("applied");
    expect(await made("orders-b")).toBe(1);
    expect(await made("cut-")).toBe(2);

    const { id, fingerprint } = waiting;
    const approved = await approveRun(copy, { id, fingerprint: fingerprint ?? "", actor: "ada" });
    expect(approved).toBe("approved");
    const marks = copy.database.selectFrom("manifests").select(["name", "restored_to"]).orderBy("name");
    // Only what was applied is known: an approved plan that turns out stale is planned again, and waits again.
    expect(await marks.execute()).toContainEqual({ name: "cut", restored_to: to });
    await copy.database.transaction().execute((tx) => takeForComplete(tx, "ada"));
    expect((await marks.execute()).map(({ restored_to }) => restored_to)).toEqual([null, null]);
    await copy.close();
  }, 180_000);

  it("is known by the file of an embedded one, also if the copy has got the number of the old file", async () => {
    const { database } = fleet;
    const folder = temporaryFolder("folder");
    const file = join(folder, "data", "global", "pg_control");
    mkdirSync(dirname(file), { recursive: true });
    const write = async (text: string): Promise<void> => {
      writeFileSync(file, text);
      // PostgreSQL changes its file later than it makes it.
      await pause(20);
      chmodSync(file, 0o600);
    };
    await write("first");
    const notice = (): Promise<Date | undefined> => noticeRestore(database, { isStart: true, folder });
    expect(await notice()).toBeUndefined();
    await write("written in place");
    expect(await notice()).toBeUndefined();
    rmSync(file);
    // File systems give a number that is free again to the next file.
    await write("a copy");
    expect(await notice()).toBeInstanceOf(Date);
    expect(await notice()).toBeUndefined();
  });

  it("is told from a failover, which a process that lives through it knows by the timeline alone", async () => {
    const { database } = fleet;
    const change = (part: "timeline" | "tables") =>
      database.updateTable("origins").set({ value: "another" }).where("part", "=", part).execute();
    await change("timeline");
    expect(await noticeRestore(database, { isStart: false })).toBeUndefined();
    const { postgres } = fleet;
    await postgres.sql("DELETE FROM graphform.workers");
    await change("timeline");
    expect(await noticeRestore(database, { isStart: true })).toBeInstanceOf(Date);
    // Also to one that starts, if a worker has just written here: a copy was written before its server was started.
    const seen = (time: string): Promise<unknown> =>
      postgres.sql(`INSERT INTO graphform.workers (id, host, pid, version, slots, started_at, seen_at)
        VALUES ('w', 'h', 1, 'v', 1, now(), ${time}) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`);
    await seen("pg_postmaster_start_time() - interval '1 second'");
    await change("timeline");
    expect(await noticeRestore(database, { isStart: true })).toBeInstanceOf(Date);
    await seen("now()");
    await change("timeline");
    expect(await noticeRestore(database, { isStart: true })).toBeUndefined();
    await change("tables");
    expect(await noticeRestore(database, { isStart: false })).toBeInstanceOf(Date);
  });
});

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly fingerprint: string | null;
  readonly reasons: readonly string[];
}

describe("the folder of an embedded database that is put back from a copy of its files", () => {
  const user = openWorkspace();
  afterAll(() => user.close());

  it("makes nothing a second time that was made since, and lets a person look at every change", async () => {
    const platform = await platformUp(user, "--engine", "none", "--delay", "5", "--delay", "create=3000");
    const folder = openFolder("copied");
    const [db, copy] = [join(folder, "db"), join(folder, "copy")];
    const secret = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return `{ file: ${name} }`;
    };
    const credentials = `{ username: ${secret("username", platform.username)}, password: ${secret("password", platform.password)} }`;
    const service = `{ platformUrl: "${platform.url}", profile: "${quickProfileFile}" }`;
    writeFileSync(
      join(folder, "controller.yaml"),
      `tenants:\n  shop: { service: ${service}, credentials: ${credentials}, secrets: { envPrefix: SHOP_ }, auto: safe }\n`,
    );
    const start = (): Promise<Served> => startServed(folder, "--config", join(folder, "controller.yaml"));
    let served = await start();
    const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
      const headers = {
        authorization: `Bearer ${served.env["GRAPHFORM_CONTROLLER_TOKEN"]}`,
        "content-type": "application/json",
      };
      const request = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      return (await fetch(new URL(`/api/v1/${path}`, served.url), request)).json() as Promise<
        Record<string, unknown>
      >;
    };
    const runs = async (manifest: string): Promise<readonly Shown[]> =>
      (await ask("GET", `runs?manifest=${manifest}`))["runs"] as readonly Shown[];
    const until = async (manifest: string, ...statuses: readonly string[]): Promise<Shown> => {
      for (;;) {
        // A check that comes to the plan that waits already is superseded by it.
        const newest = (await runs(manifest)).find(({ status }) => status !== "superseded");
        if (newest !== undefined && statuses.includes(newest.status)) return newest;
        await pause(300);
      }
    };
    const textOf = (name: string, databases: readonly string[]): object => ({
      "graphform.yaml": manifestText(name, databases).replaceAll("SHOP_DB", "SHOP_PASSWORD"),
    });
    const add = (name: string, databases: readonly string[]): Promise<object> =>
      ask("POST", "manifests", {
        ...{ tenant: "shop", name, source: { type: "upload" }, intervalSeconds: 3600 },
        files: textOf(name, databases),
      });
    const upload = (): Promise<object> =>
      ask("PUT", "manifests/shop/orders/files", { files: textOf("orders", ["a", "b"]) });

    await add("orders", ["a"]);
    await until("orders", "applied");
    await add("cut", ["a", "b", "c"]);
    await expect.poll(() => madeAt(platform, "cut-"), { timeout: 30_000 }).toBeGreaterThan(0);
    await served.end("SIGKILL");
    await expect.poll(() => existsSync(join(db, "data", "postmaster.pid")), { timeout: 20_000 }).toBe(false);
    execFileSync("cp", ["-a", db, copy]);
    // What is done after the copy.
    served = await start();
    expect(served.said()).not.toContain("put back from a copy");
    await until("cut", "applied");
    await upload();
    const waiting = await until("orders", "needs_approval", "applied");
    if (waiting.status === "needs_approval")
      await ask("POST", `runs/${waiting.id}/approve`, { fingerprint: waiting.fingerprint });
    await until("orders", "applied");
    expect([await madeAt(platform, "cut-"), await madeAt(platform, "orders-")]).toEqual([3, 2]);
    expect(await served.end("SIGTERM")).toBe(0);

    rmSync(db, { recursive: true });
    execFileSync("cp", ["-a", copy, db]);
    served = await start();
    expect(served.said()).toContain("put back from a copy");
    expect((await runs("cut")).map(({ status }) => status)).toContain("stale");
    await upload();
    const again = await until("orders", "needs_approval");
    expect(again.reasons[0]).toContain("it may not be known here what was made or changed");
    await until("cut", "needs_approval", "blocked", "planned_and_finished");
    expect([await madeAt(platform, "cut-"), await madeAt(platform, "orders-")]).toEqual([3, 2]);
    expect(await served.end("SIGTERM")).toBe(0);
  }, 300_000);
});
