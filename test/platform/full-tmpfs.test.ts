import { execFileSync } from "node:child_process";
import { open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { poll, pro, type TestPlatform } from "./harness.ts";
import { askPort, count, createRunning, fill, needEngine, pidOf, portOf, zoned } from "./real.ts";
import { type Spawned, spawnPlatform } from "./spawned.ts";

/**
 * Real databases on a disk that is filled during every operation and freed again. It takes a disk of its own: where none may be mounted, these tests
 * are counted as skipped; the control plane alone is tried without one in full-disk.test.ts.
 */
const canMount = triesToMount();

/** How often each operation meets a full disk; more with `GRAPHFORM_ROUNDS`. */
const rounds = Number(process.env["GRAPHFORM_ROUNDS"] ?? 1);

let disk = "";
let platform: Spawned;
let test: TestPlatform;

beforeAll(async () => {
  if (!canMount) return;
  await needEngine();
  disk = temporaryFolder("tmpfs");
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=48m", "tmpfs", disk]);
  platform = await spawnPlatform(join(disk, "platform"), "--delay", "10");
  test = platform.client;
});
// What a test that failed did not give back.
afterEach(() => rm(ballast(), { force: true }));
afterAll(async () => {
  if (!canMount) return;
  await platform.end("SIGTERM");
  execFileSync("umount", [disk]);
});

const ballast = (): string => join(disk, "ballast");

/** Takes all the room that there is, until it is given back. */
async function fillDisk(): Promise<() => Promise<void>> {
  const file = await open(ballast(), "w");
  const block = Buffer.alloc(64 * 1024);
  try {
    for (;;) await file.write(block);
  } catch {
    // It is full.
  } finally {
    await file.close();
  }
  expect((await statfs(disk)).bavail).toBe(0);
  return () => rm(ballast());
}

const post = (rest: string, body?: JsonObject) => (own: string) => test.call("POST", `${own}${rest}`, body);
const failover = { failed_replica_id: "node-sz-0", failed_replica_action: "FAILOVER_AND_RESTART" };
const operations: readonly (readonly [
  string,
  (own: string) => Promise<{ readonly status: number }>,
  string | number,
])[] = [
  ["update", (own) => test.call("PUT", own, { requestParams: { nodeInstanceType: "r7g.large" } }), "RUNNING"],
  ["stop", post("/stop"), "STOPPED"],
  ["restart", post("/restart"), "RUNNING"],
  ["failover", post("/failover", failover), "RUNNING"],
  ["backup", post("/backup"), "RUNNING"],
  ["delete", (own) => test.call("DELETE", own), 404],
];

describe.skipIf(!canMount)(
  "real databases on a disk that fills (skipped where no tmpfs may be mounted)",
  { timeout: 60_000 + 60_000 * rounds },
  () => {
    const cases = operations.flatMap(([name, send, end]) =>
      (["before", "during"] as const).map((when) => [name, when, send, end] as const),
    );
    it.each(cases)(
      "%s, full %s it: acknowledged writes stay, nothing is wedged, the platform lives",
      async (name, when, send, end) => {
        for (let round = 0; round < rounds; round += 1) {
          const own = await createRunning(test, zoned, { nodeInstanceType: "m7g.large" });
          await fill(test, own, 50);
          const port = portOf((await test.call("GET", own)).body);
          const failed = await failedWrites();
          if (when === "during") await slowly(name);
          const early = when === "before" ? await fillDisk() : undefined;
          const { status } = await send(own);
          // Something of it may fit into what is left of a block.
          expect(when === "before" ? [202, 500] : [202]).toContain(status);
          const free = early ?? (await fillDisk());
          // A deletion needs no room, and may be over by now.
          expect(end === 404 ? [200, 404] : [200]).toContain((await test.call("GET", own)).status);
          await untilFelt(own, failed);
          const extra = await isTaken(port);
          expect((await test.call("GET", pro)).status).toBe(200);
          expect(platform.isAlive()).toBe(true);
          await free();
          await idle(own);
          await askAgain(own, send, end);
          if (name === "stop") await test.call("POST", `${own}/start`);
          if (end === 404) continue;
          const seen = await count(test, own);
          // A write that was refused may have been done all the same; one that was acknowledged is there.
          expect(extra ? [51] : [50, 51]).toContain(seen);
          await test.call("DELETE", own);
          await test.until(own, 404);
        }
      },
    );

    it("a database that dies is shown so at once, and is back with its data before there is room", async () => {
      const own = await createRunning(test, pro, { AOFPersistenceConfig: "always" });
      await fill(test, own, 50);
      const free = await fillDisk();
      process.kill(pidOf(join(disk, "platform"), own, 0), "SIGKILL");
      await test.until(own, "RESTARTING");
      expect(await count(test, own)).toBe(50);
      expect((await statfs(disk)).bavail).toBe(0);
      await free();
      await test.call("DELETE", own);
      await test.until(own, 404);
    });

    it("a user of a stopped instance is refused with 500 and words without a path, and is created once there is room", async () => {
      const own = await createRunning(test, pro);
      await test.call("POST", `${own}/stop`);
      await test.until(own, "STOPPED");
      const create = () =>
        test.bare(
          "POST",
          `/v1/customer-ldap/instances/${own.split("/").at(-1)}/users?subscriptionId=s`,
          { username: "reader", password: "reader-1", acl: "~* +PING" },
          { authorization: `Bearer ${test.token()}` },
        );
      const free = await fillDisk();
      const refused = await create();
      await free();
      expect([refused.status, refused.body["message"]]).toEqual([
        500,
        "the platform cannot write to its data folder (no space left on device); nothing was changed",
      ]);
      expect((await create()).status).toBe(200);
      await test.call("DELETE", own);
      await test.until(own, 404);
    });

    it("a write that a full disk kept the database from goes through once there is room, and so does a backup", async () => {
      const own = await createRunning(test, pro);
      await fill(test, own, 50);
      const { body } = await test.call("GET", own);
      await slowly("backup");
      expect((await test.call("POST", `${own}/backup`)).status).toBe(202);
      const free = await fillDisk();
      const before = await failedWrites();
      await poll(async () => ((await failedWrites()) > before ? true : undefined), "a write that fails");
      await poll(async () => ((await isTaken(portOf(body))) ? undefined : true), "a write that is refused");
      await free();
      await idle(own);
      await poll(async () => ((await isTaken(portOf(body))) ? true : undefined), "a write");
      expect((await test.call("POST", `${own}/backup`)).status).toBe(202);
      const statuses = await poll(async () => {
        const { snapshots } = JSON.parse((await test.call("GET", `${own}/snapshot`)).text);
        const all: readonly string[] = snapshots.map((each: JsonObject) => each["status"]);
        return all.at(-1) === "completed" ? all : undefined;
      }, "the next backup");
      expect(statuses).toHaveLength(2);
      expect(["FAILED", "completed"]).toContain(statuses[0]);
    });
  },
);

/** Lets the next operation of a name wait a moment before its work: time to fill the disk. */
async function slowly(operation: string): Promise<void> {
  const rules = [{ operation, count: 1, fault: { staleStatus: 1500 } }];
  await test.call("PUT", "/_platform/faults", { rules });
}

async function isTaken(port: number): Promise<boolean> {
  return askPort(port, "GRAPH.QUERY", "g", "CREATE (:N)").then(
    () => true,
    () => false,
  );
}

async function failedWrites(): Promise<number> {
  const { text } = await test.call("GET", "/_platform/status");
  const status: { readonly storage: { readonly failedWrites: number } } = JSON.parse(text);
  return status.storage.failedWrites;
}

/** Waits until the full disk was felt, or the operation ended without that. */
async function untilFelt(own: string, failed: number): Promise<void> {
  await poll(
    async () => ((await failedWrites()) > failed || (await isIdle(own)) ? true : undefined),
    "a write that fails, or the end of the operation",
  );
}

/** Where an operation was refused, or could not be done, it is asked again; then it works. */
async function askAgain(
  own: string,
  send: (own: string) => Promise<{ readonly status: number }>,
  end: string | number,
): Promise<void> {
  const now = await test.call("GET", own);
  if (now.body["status"] === end || now.status === end) return;
  await test.until(own, "RUNNING");
  expect((await send(own)).status).toBe(202);
  await test.until(own, end);
}

async function idle(own: string): Promise<void> {
  await poll(async () => ((await isIdle(own)) ? true : undefined), `${own} to be busy with nothing`);
}

async function isIdle(own: string): Promise<boolean> {
  const { text } = await test.call("GET", "/_platform/status");
  const { instances }: { instances: readonly { id: string; operation: string }[] } = JSON.parse(text);
  const found = instances.find(({ id }) => own.endsWith(id));
  return found === undefined || found.operation === "";
}

function triesToMount(): boolean {
  const folder = temporaryFolder("mount");
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  } finally {
  }
}
