import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { poll, pro, type TestPlatform } from "./harness.ts";
import {
  count,
  createRunning,
  failureOf,
  fill,
  fillBoth,
  folderOf,
  needEngine,
  nodesOf,
  pidOf,
  zoned,
} from "./real.ts";
import { type Spawned, spawnPlatform } from "./spawned.ts";

let dataDir = "";
let platform: Spawned;
let test: TestPlatform;

async function up(...more: readonly string[]): Promise<void> {
  platform = await spawnPlatform(dataDir, ...more);
  test = platform.client;
}

beforeAll(async () => {
  await needEngine();
  dataDir = temporaryFolder("failing");
  await up("--delay", "20");
});
afterAll(async () => {
  await platform.end("SIGTERM");
});

const always = { AOFPersistenceConfig: "always" };

describe("a database that is not well", () => {
  it("that is halted does not stay RUNNING: it is told to go on, and nothing is lost", async () => {
    const own = await createRunning(test, pro);
    await fill(test, own, 10);
    const pid = pidOf(dataDir, own, 0);
    process.kill(pid, "SIGSTOP");
    await test.until(own, "RESTARTING");
    expect(await count(test, own)).toBe(10);
    expect(pidOf(dataDir, own, 0)).toBe(pid);
  });

  it("whose nodes die together is back with its data", async () => {
    const own = await createRunning(test, zoned, always);
    await fill(test, own, 10);
    for (const index of [0, 1]) process.kill(pidOf(dataDir, own, index), "SIGKILL");
    await test.until(own, "RESTARTING");
    expect(await count(test, own)).toBe(10);
  });

  it("whose replica dies shows which node is down, and serves meanwhile", async () => {
    const own = await createRunning(test, zoned);
    const folder = join(folderOf(dataDir, own), "node-1");
    await rename(join(folder, "data"), join(folder, "away"));
    await writeFile(join(folder, "data"), "in the way");
    process.kill(pidOf(dataDir, own, 1), "SIGKILL");
    const { body } = await poll(async () => {
      const answer = await test.call("GET", own);
      return failureOf(answer.body) === "" ? undefined : answer;
    }, "the failure");
    expect(body["status"]).toBe("RUNNING");
    expect(failureOf(body)).toMatch(/replica node-sz-1/);
    expect(nodesOf(body).map(({ id, healthStatus }) => `${id} ${healthStatus}`)).toEqual([
      "node-sz-0 HEALTHY",
      "node-sz-1 UNHEALTHY",
    ]);
    await fill(test, own, 3);
    await rm(join(folder, "data"));
    const healed = await poll(async () => {
      const answer = await test.call("GET", own);
      return nodesOf(answer.body).every(({ healthStatus }) => healthStatus === "HEALTHY")
        ? answer
        : undefined;
    }, "the replica");
    expect(failureOf(healed.body)).toBe("");
    expect(await count(test, own)).toBe(3);
  });

  it("whose primary dies while the repair of its replica sleeps is RESTARTING with both nodes down, and comes back", async () => {
    const own = await createRunning(test, zoned, always);
    await fill(test, own, 3);
    const folder = join(folderOf(dataDir, own), "node-1");
    await rename(join(folder, "data"), join(folder, "away"));
    await writeFile(join(folder, "data"), "in the way");
    process.kill(pidOf(dataDir, own, 1), "SIGKILL");
    const attempts = async (): Promise<number> => {
      const { events }: { events: readonly { message: string }[] } = JSON.parse(
        (await test.call("GET", "/_platform/status")).text,
      );
      return events.filter(({ message }) => /cannot be brought back yet: replica node-sz-1/.test(message))
        .length;
    };
    await poll(async () => ((await attempts()) > 0 ? true : undefined), "the repair to give up for a while");
    await test.until(own, "RUNNING");
    process.kill(pidOf(dataDir, own, 0), "SIGKILL");
    await poll(async () => {
      const { body } = await test.call("GET", own);
      const isDown = nodesOf(body).every(({ healthStatus }) => healthStatus === "UNHEALTHY");
      return (isDown && body["status"] === "RESTARTING") || undefined;
    }, "both nodes down");
    await rm(join(folder, "data"));
    expect(await count(test, own)).toBe(3);
  });

  it("that has lost its data is FAILED and says why; it runs again once they are there, also after a kill of the platform", async () => {
    const own = await createRunning(test, pro, always);
    await fill(test, own, 7);
    const data = join(folderOf(dataDir, own), "node-0", "data");
    await rename(data, `${data}.away`);
    process.kill(pidOf(dataDir, own, 0), "SIGKILL");
    const { body } = await test.until(own, "FAILED");
    expect(failureOf(body)).toMatch(/the data of node-s-0 are gone/);
    await platform.end("SIGKILL");
    await up("--delay", "20");
    // The kill may come before the note is on disk: the next platform tries again, and then says so.
    await test.until(own, "FAILED");
    await rm(data, { recursive: true, force: true });
    await rename(`${data}.away`, data);
    expect(await count(test, own)).toBe(7);
    expect(failureOf((await test.call("GET", own)).body)).toBe("");
  });

  it("whose primary has lost its data goes on with its replica", async () => {
    const own = await createRunning(test, zoned);
    await fillBoth(test, own, 7);
    await rm(join(folderOf(dataDir, own), "node-0", "data"), { recursive: true });
    process.kill(pidOf(dataDir, own, 0), "SIGKILL");
    await test.until(own, "RESTARTING");
    expect(await count(test, own)).toBe(7);
    const { body } = await test.call("GET", own);
    expect(nodesOf(body).find(({ role }) => role === "primary")?.id).toBe("node-sz-1");
  });
});

describe("a failover", () => {
  const failover = (own: string, node: string, action: string) =>
    test.call("POST", `${own}/failover`, { failed_replica_id: node, failed_replica_action: action });
  const primaryOf = async (own: string): Promise<string> =>
    nodesOf((await test.until(own, "RUNNING")).body).find(({ role }) => role === "primary")?.id ?? "";

  it.each([
    ["FAILOVER_ONLY", true, true],
    ["FAILOVER_AND_RESTART", false, true],
    ["FAILOVER_AND_RECREATE", false, false],
  ])("%s leaves the failed node's process: %s, its data: %s", async (action, isSameProcess, isSameData) => {
    const own = await createRunning(test, zoned);
    await fill(test, own, 5);
    const data = join(folderOf(dataDir, own), "node-0", "data");
    const [pid, trace] = [pidOf(dataDir, own, 0), join(data, "trace")];
    await writeFile(trace, "");
    expect((await failover(own, "node-sz-0", action)).status).toBe(202);
    await test.until(own, "RUNNING");
    expect(await primaryOf(own)).toBe("node-sz-1");
    expect(await count(test, own)).toBe(5);
    expect([pidOf(dataDir, own, 0) === pid, existsSync(trace)]).toEqual([isSameProcess, isSameData]);
    // The node has the data again, whatever was done to it.
    await failover(own, "node-sz-1", "FAILOVER_ONLY");
    await test.until(own, "RUNNING");
    expect(await primaryOf(own)).toBe("node-sz-0");
    expect(await count(test, own)).toBe(5);
  });

  it("of a replica does to it what is asked, and moves nothing", async () => {
    const own = await createRunning(test, zoned);
    await fill(test, own, 5);
    const [primary, replica] = [pidOf(dataDir, own, 0), pidOf(dataDir, own, 1)];
    await failover(own, "node-sz-1", "FAILOVER_AND_RECREATE");
    await test.until(own, "RUNNING");
    expect(await primaryOf(own)).toBe("node-sz-0");
    expect(pidOf(dataDir, own, 0)).toBe(primary);
    expect(pidOf(dataDir, own, 1)).not.toBe(replica);
    expect(await count(test, own)).toBe(5);
  });

  it("that is refused leaves the database RUNNING, and says why", async () => {
    const own = await createRunning(test, zoned);
    const folder = join(folderOf(dataDir, own), "node-1");
    await rm(join(folder, "data"), { recursive: true });
    await writeFile(join(folder, "data"), "in the way");
    process.kill(pidOf(dataDir, own, 1), "SIGKILL");
    await poll(
      async () => (failureOf((await test.call("GET", own)).body) === "" ? undefined : true),
      "the replica's end",
    );
    await test.until(own, "RUNNING");
    expect((await failover(own, "node-sz-0", "FAILOVER_ONLY")).status).toBe(202);
    const { body } = await poll(async () => {
      const answer = await test.call("GET", own);
      return /in sync/.test(failureOf(answer.body)) ? answer : undefined;
    }, "the refusal");
    expect(body["status"]).toBe("RUNNING");
    await fill(test, own, 2);
    expect(await count(test, own)).toBe(2);
  });

  it("serves a database whose primary cannot start any more, whether it was brought up or not", async () => {
    const own = await createRunning(test, zoned, always);
    await fillBoth(test, own, 5);
    await platform.end("SIGKILL");
    for (const index of [0, 1]) process.kill(pidOf(dataDir, own, index), "SIGKILL");
    const folder = folderOf(dataDir, own);
    // The replica lacks what the primary took alone, and the primary's data are gone: nobody decides that but a person.
    const record = JSON.parse(await readFile(join(folder, "database.json"), "utf8"));
    await writeFile(join(folder, "database.json"), JSON.stringify({ ...record, nodes: ["whole", "behind"] }));
    await rm(join(folder, "node-0", "data"), { recursive: true });
    await up("--delay", "20");
    const { body } = await test.until(own, "FAILED");
    expect(failureOf(body)).toMatch(/node-sz-1 lacks the latest writes.*failover of node-sz-0/);
    expect((await failover(own, "node-sz-0", "FAILOVER_AND_RESTART")).status).toBe(202);
    expect(await count(test, own)).toBe(5);
    expect(await primaryOf(own)).toBe("node-sz-1");
  });

  it("of a database that is not up loses nothing of a primary that can come back after all", async () => {
    const own = await createRunning(test, zoned, always);
    await fill(test, own, 5);
    const folder = folderOf(dataDir, own);
    const [data, early] = [join(folder, "node-1", "data"), join(folder, "early")];
    await test.call("POST", `${own}/stop`);
    await test.until(own, "STOPPED");
    await cp(data, early, { recursive: true });
    await test.call("POST", `${own}/start`);
    await fill(test, own, 3);
    await platform.end("SIGKILL");
    for (const index of [0, 1]) process.kill(pidOf(dataDir, own, index), "SIGKILL");
    // The replica has only what it had before the primary went on alone; the primary's data are away until the instance is FAILED.
    await rm(data, { recursive: true });
    await rename(early, data);
    const record = JSON.parse(await readFile(join(folder, "database.json"), "utf8"));
    await writeFile(join(folder, "database.json"), JSON.stringify({ ...record, nodes: ["whole", "behind"] }));
    const whole = join(folder, "node-0", "data");
    await rename(whole, `${whole}.away`);
    await up("--delay", "20");
    await test.until(own, "FAILED");
    await rename(`${whole}.away`, whole);
    expect((await failover(own, "node-sz-0", "FAILOVER_ONLY")).status).toBe(202);
    expect(await count(test, own)).toBe(8);
    expect(await primaryOf(own)).toBe("node-sz-1");
  });
});

describe("a backup", () => {
  it("that cannot be written stays in the list as FAILED with its reason; the database serves, and the next one works", async () => {
    const own = await createRunning(test, pro);
    await fill(test, own, 4);
    const place = join(dataDir, "snapshots", "us-east-1");
    await rm(place, { recursive: true, force: true });
    await mkdir(join(dataDir, "snapshots"), { recursive: true });
    await writeFile(place, "in the way");
    expect((await test.call("POST", `${own}/backup`)).status).toBe(202);
    const listed = async () => JSON.parse((await test.call("GET", `${own}/snapshot`)).text).snapshots;
    const failed = await poll(
      async () => (await listed()).find((each: { status: string }) => each.status === "FAILED"),
      "it to fail",
    );
    expect(failed.snapshotMetadata.failureReason).not.toBe("");
    await test.until(own, "RUNNING");
    await rm(place);
    await fill(test, own, 4);
    expect((await test.call("POST", `${own}/backup`)).status).toBe(202);
    await poll(
      async () => ((await listed()).at(-1).status === "completed" ? true : undefined),
      "the next one",
    );
    expect((await listed()).map((each: { status: string }) => each.status)).toEqual(["FAILED", "completed"]);
    expect(await readdir(place)).toHaveLength(1);
  });
});
