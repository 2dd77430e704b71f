import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { poll, pro, type TestPlatform } from "./harness.ts";
import { count, createRunning, fill, needEngine, pidOf, zoned } from "./real.ts";
import { type Spawned, spawnPlatform } from "./spawned.ts";

/** How often each operation is struck; `GRAPHFORM_ROUNDS=10 npm test -- test/platform/killed-operations.test.ts` is more of the same. */
const rounds = Number(process.env["GRAPHFORM_ROUNDS"] ?? 1);

const nodes = 12;

let dataDir = "";
let platform: Spawned;
let test: TestPlatform;

async function up(): Promise<void> {
  platform = await spawnPlatform(dataDir, "--delay", "10");
  test = platform.client;
}

beforeAll(async () => {
  await needEngine();
  dataDir = temporaryFolder("killed");
  await up();
});
afterAll(async () => {
  await platform.end("SIGTERM");
});

interface Operation {
  readonly send: (own: string) => Promise<{ readonly status: number }>;
  /** The status that it comes to; 404 for gone. */
  readonly end: string | number;
}

const post =
  (rest: string, body?: { readonly [key: string]: string }) =>
  (own: string): Promise<{ readonly status: number }> =>
    test.call("POST", `${own}${rest}`, body);

const operations: { readonly [name: string]: Operation } = {
  update: {
    send: (own) => test.call("PUT", own, { requestParams: { nodeInstanceType: "r7g.large" } }),
    end: "RUNNING",
  },
  stop: { send: post("/stop"), end: "STOPPED" },
  restart: { send: post("/restart"), end: "RUNNING" },
  failover: {
    send: post("/failover", {
      failed_replica_id: "node-sz-0",
      failed_replica_action: "FAILOVER_AND_RESTART",
    }),
    end: "RUNNING",
  },
  recreate: {
    send: post("/failover", {
      failed_replica_id: "node-sz-0",
      failed_replica_action: "FAILOVER_AND_RECREATE",
    }),
    end: "RUNNING",
  },
  backup: { send: post("/backup"), end: "RUNNING" },
  delete: { send: (own) => test.call("DELETE", own), end: 404 },
};

type Victims = { readonly [name: string]: readonly ("platform" | 0 | 1)[] };

const few: Victims = { "the platform": ["platform"], "both nodes": [0, 1] };
const all: Victims = {
  ...few,
  "the primary": [0],
  "the replica": [1],
  "the platform and both nodes": ["platform", 0, 1],
};
const victims: Victims = rounds > 1 ? all : few;

const cases = Object.keys(operations).flatMap((operation) =>
  Object.keys(victims).map((victim) => [operation, victim] as const),
);

it.each(cases)(
  `%s, without %s (${rounds} rounds): it ends as it should, and no data are lost`,
  async (name, victim) => {
    const operation = operations[name];
    if (operation === undefined) throw new Error(`no operation ${name}`);
    for (let round = 0; round < rounds; round += 1) {
      // Every write is on the disk when it is acknowledged: a killed node has all of them.
      const own = await createRunning(test, zoned, {
        AOFPersistenceConfig: "always",
        nodeInstanceType: "m7g.large",
      });
      await fill(test, own, nodes);
      const pids = [pidOf(dataDir, own, 0), pidOf(dataDir, own, 1)];
      expect((await operation.send(own)).status).toBe(202);
      await pause(10 + ((round * 37) % 400));
      for (const each of victims[victim] ?? []) {
        if (each === "platform") await platform.end("SIGKILL");
        else killIfThere(pids[each]);
      }
      if (!platform.isAlive()) await up();
      await settled(own, operation.end);
      if (operation.end === "STOPPED") await test.call("POST", `${own}/start`);
      if (operation.end !== 404) expect(await count(test, own)).toBe(nodes);
      await test.call("DELETE", own);
      await test.until(own, 404);
    }
  },
  30_000 + 30_000 * rounds,
);

it(
  "create, while the platform dies: every acknowledged one runs",
  async () => {
    for (let round = 0; round < rounds; round += 1) {
      const ids = await Promise.all([test.create(pro), test.create(zoned)]);
      await pause((round * 37) % 400);
      await platform.end("SIGKILL");
      await up();
      await test.until(`${pro}/${ids[0]}`, "RUNNING");
      await test.until(`${zoned}/${ids[1]}`, "RUNNING");
    }
    expect(platform.isAlive()).toBe(true);
  },
  60_000 * rounds,
);

/** Waits until an instance has come to a status and is busy with nothing: an operation that was struck may fail, and is put right then. */
async function settled(own: string, end: string | number): Promise<void> {
  await test.until(own, end);
  if (end === 404) return;
  await poll(async () => {
    const status: { readonly instances: readonly { readonly id: string; readonly operation: string }[] } =
      JSON.parse((await test.call("GET", "/_platform/status")).text);
    const found = status.instances.find(({ id }) => own.endsWith(id));
    return found?.operation === "" ? true : undefined;
  }, `${own} to be busy with nothing`);
  await test.until(own, end);
}

function killIfThere(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  } catch {
    // It was quicker.
  }
}
