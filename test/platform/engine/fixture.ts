import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, vi } from "vitest";
import type { Database } from "../../../src/platform/engine/database.ts";
import type { Engine } from "../../../src/platform/engine/engine.ts";
import { findEngine } from "../../../src/platform/engine/setup/setup-engine.ts";
import type { DatabaseSpec } from "../../../src/platform/engine/spec.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** What a test file works with: the engine, and a folder that goes with everything that runs over it. */
export interface Ground {
  engine: Engine;
  folder: string;
  /** A spec with a folder of its own. */
  spec(changes?: Partial<DatabaseSpec>): DatabaseSpec;
}

/** Prepares a test file. Fails, and does not skip, where there is no engine. */
export function prepare(): Ground {
  let count = 0;
  const ground: Partial<Ground> = {};
  beforeAll(async () => {
    const found = await findEngine();
    if (found.engine === undefined) throw new Error(found.reason);
    ground.engine = found.engine;
    ground.folder = temporaryFolder("engine");
  });
  afterAll(async () => {
    const { engine, folder } = ground;
    if (engine === undefined || folder === undefined) return;
    for (const name of await readdir(folder)) await engine.destroy(join(folder, name));
    await rm(folder, { recursive: true, force: true });
  });
  const need = <T>(value: T | undefined): T => {
    if (value === undefined)
      throw new Error("the ground is prepared before the tests, not while they are declared");
    return value;
  };
  return {
    get engine() {
      return need(ground.engine);
    },
    get folder() {
      return need(ground.folder);
    },
    spec(changes = {}) {
      count += 1;
      const dir = join(need(ground.folder), `db-${count}`);
      return {
        dir,
        user: "tenant",
        password: secret,
        nodes: 1,
        parameters: {},
        aof: "everysec",
        rdb: "low",
        ...changes,
      };
    },
  };
}

/** The tenant's password in the tests; nothing else is called so. */
export const secret = "correct-horse-battery";

/** What it takes to connect. */
export type Reachable = Pick<Database, "host" | "port">;

/** Asks one command as a user, by default as the tenant. */
export async function ask(
  database: Reachable,
  command: readonly string[],
  login: Partial<Login> = {},
): Promise<unknown> {
  const { username = "tenant", password = secret, port = database.port(), ca } = login;
  const address = { host: database.host, port, reconnectStrategy: false as const };
  const client = createClient({
    RESP: 2,
    username,
    password,
    socket: ca === undefined ? address : { ...address, tls: true, ca },
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await client.sendCommand([...command]);
  } finally {
    client.destroy();
  }
}

export interface Login {
  readonly username: string;
  readonly password: string;
  readonly port: number;
  readonly ca: Buffer;
}

/** One parameter as the tenant sees it. */
export async function parameter(database: Database, name: string): Promise<unknown> {
  const reply = await ask(database, ["GRAPH.CONFIG", "GET", name]);
  return Array.isArray(reply) ? reply[1] : reply;
}

/** Asks for the operator's view: the secret is in the folder. */
export async function asOperator(
  spec: DatabaseSpec,
  database: Reachable,
  command: readonly string[],
): Promise<unknown> {
  const record: { secret: string } = JSON.parse(await readFile(join(spec.dir, "database.json"), "utf8"));
  return ask(database, command, { username: "graphform-platform", password: record.secret });
}

/** Creates `count` nodes. */
export async function fill(database: Reachable, count: number): Promise<void> {
  await ask(database, ["GRAPH.QUERY", "g", `UNWIND range(1, ${count}) AS i CREATE (:N {i: i})`]);
}

/** Nodes in the graph. */
export async function countNodes(database: Reachable, login: Partial<Login> = {}): Promise<unknown> {
  const reply = await ask(database, ["GRAPH.RO_QUERY", "g", "MATCH (n:N) RETURN count(n)"], login);
  return Array.isArray(reply) && Array.isArray(reply[1]) && Array.isArray(reply[1][0])
    ? reply[1][0][0]
    : reply;
}

/** Every process with the folder's path in its arguments. */
export async function processesIn(dir: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return all.filter((argv) => argv.includes(dir));
}

/** Waits until something holds. */
export async function until(condition: () => unknown): Promise<void> {
  await vi.waitUntil(condition, { timeout: 60_000, interval: 10 });
}

/** Kills a process as `kill -9` does, and resolves when it is dead. */
export async function kill(pid: number | undefined): Promise<void> {
  if (pid === undefined) throw new Error("there is no process to kill");
  process.kill(pid, "SIGKILL");
  await until(async () => (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")) === "");
}
