/** @module Sets up replication, permits writes to the recorded primary only, and swaps the roles of two nodes. */
import { setTimeout as sleep } from "node:timers/promises";
import { info, type Login, talk } from "./connection.ts";
import { EngineError } from "./spec.ts";

/** Time without progress after which replication fails, in ms. */
const progressTimeout = 30_000;

export function replicationOf(login: Login): Promise<ReadonlyMap<string, string>> {
  return talk(login, (ask) => info(ask, "replication"));
}

export interface Peer {
  readonly login: Login;
  isAlive(): boolean;
  /** False if the node was silent for seconds without being busy. */
  responds(): Promise<boolean>;
}

/** Makes a node replicate a primary, or none; resolves at once. */
export async function setPrimary(node: Login, primary: Login | undefined): Promise<void> {
  const words = primary === undefined ? ["NO", "ONE"] : ["127.0.0.1", String(primary.port)];
  await talk(node, (ask) => ask("REPLICAOF", ...words));
}

/**
 * Makes a node replicate a primary and resolves when both report it in sync and the data is on its disk, or when the replica hangs.
 * Rejects with EngineError if it makes no progress or a process ends, or with the signal's reason.
 */
export async function follow(
  replica: Peer,
  primary: Peer,
  signal?: AbortSignal,
): Promise<"in sync" | "hangs"> {
  const [own, other] = [replica.login, primary.login];
  let progress = "";
  let moved = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    for (const [name, { isAlive }] of Object.entries({ replica, primary }))
      if (!isAlive())
        throw new EngineError("engine-start", `the ${name} ended before the replica was in sync`);
    const seen = await replicationOf(own).catch(() => new Map<string, string>());
    const follows = isFollowing(seen, other.port);
    const state = follows ? await syncOf(own, other, seen).catch(() => "behind" as const) : "behind";
    if (state === "safe") return "in sync";
    if (seen.size === 0 && replica.isAlive() && !(await replica.responds())) return "hangs";
    if (seen.size > 0 && !follows) await setPrimary(own, other).catch(() => undefined);
    const now = ["master_sync_read_bytes", "slave_repl_offset", "role"].map((name) => seen.get(name)).join();
    if (now !== progress || state === "saving") moved = performance.now();
    progress = now;
    if (performance.now() - moved > progressTimeout) {
      const message = `the replica on port ${own.port} does not get in sync with its primary`;
      throw new EngineError("engine-start", message);
    }
    await sleep(10);
  }
}

export function isFollowing(replica: ReadonlyMap<string, string>, port: number): boolean {
  return replica.get("role") === "slave" && replica.get("master_port") === String(port);
}

function hasReplica(primary: ReadonlyMap<string, string>, port: number): boolean {
  return [...primary].some(([name, value]) => {
    const fields = new Set(value.split(","));
    return /^slave\d+$/.test(name) && fields.has(`port=${port}`) && fields.has("state=online");
  });
}

/** Progress of a replica: data is missing, data is complete and being written to disk, or all of it is on disk. */
async function syncOf(
  replica: Login,
  primary: Login,
  seen: ReadonlyMap<string, string>,
): Promise<"behind" | "saving" | "safe"> {
  if (seen.get("master_link_status") !== "up") return "behind";
  if (!hasReplica(await replicationOf(primary), replica.port)) return "behind";
  const kept = await talk(replica, (ask) => info(ask, "persistence"));
  if (isSafe(kept)) return "safe";
  return kept.get("aof_rewrite_in_progress") === "1" ? "saving" : "behind";
}

/**
 * No node takes writes before it is recorded as primary, and a former primary never takes them again. Every node is configured to
 * refuse writes (NOREPLICAS) from its start. Only `permitWrites` changes that in the running process, after the record names the
 * node.
 */

/** The setting that makes a primary refuse writes: it requires more replicas than exist. */
export const refusal: readonly [name: string, value: string] = ["min-replicas-to-write", "1000"];

/** Maximum time for a node to complete its append-only file, in ms. */
const permitTimeout = 600_000;

/** Makes a node refuse writes. Replicas refuse them anyway; the setting applies once they are promoted. */
export async function forbidWrites(login: Login): Promise<void> {
  await talk(login, (ask) => ask("CONFIG", "SET", ...refusal));
}

/**
 * Permits writes once the data is on disk: a replica that is still writing its first append-only file would lose all of it.
 * Rejects with EngineError if the file cannot be written.
 */
export async function permitWrites(login: Login): Promise<void> {
  await talk(
    login,
    async (ask) => {
      for (;;) {
        const seen = await info(ask, "persistence");
        if (isSafe(seen)) break;
        const message = `the database on port ${login.port} cannot write its append-only file`;
        if (seen.get("aof_last_bgrewrite_status") === "err" && seen.get("aof_rewrite_in_progress") === "0")
          throw new EngineError("engine-start", message);
        await sleep(20);
      }
      await ask("CONFIG", "SET", refusal[0], "0");
    },
    permitTimeout,
  );
}

/** True if a node takes writes unless it is a replica. */
export async function takesWrites(login: Login): Promise<boolean> {
  const reply = await talk(login, (ask) => ask("CONFIG", "GET", refusal[0]));
  return Array.isArray(reply) && reply[1] === "0";
}

/** True if a kill would lose nothing, by INFO persistence. */
function isSafe(persistence: ReadonlyMap<string, string>): boolean {
  return (
    persistence.get("aof_enabled") !== "1" ||
    (persistence.get("aof_rewrite_in_progress") === "0" && persistence.get("aof_rewrite_scheduled") === "0")
  );
}

/** Time for queries in progress and replication to finish, in ms. */
const syncTimeout = 10_000;

/**
 * Steps: the primary is set to refuse writes (NOREPLICAS); writes in progress finish and reach the replica; `recordPrimary` records
 * the replica as primary; only then it is promoted and permitted to take writes. If this process is killed, the record says which
 * data counts, and no other node takes writes. Rejects with EngineError and changes nothing if no replica is in sync, it does not
 * catch up, or the record cannot be written. The server's own FAILOVER cannot be used: a query of the graph module in progress then
 * fails an assertion, and the primary crashes.
 */
export async function swapRoles(
  primary: Login,
  replica: Login,
  recordPrimary: (isReplica: boolean) => Promise<void>,
): Promise<void> {
  if (!hasReplica(await replicationOf(primary), replica.port)) throw outOfSync();
  try {
    await forbidWrites(primary);
    await untilEqual(primary, replica);
    await recordPrimary(true);
  } catch (error) {
    await permitWrites(primary).catch(() => undefined);
    throw error;
  }
  try {
    await setPrimary(replica, undefined);
  } catch (cause) {
    // It may have been promoted in spite of the error, but refuses writes until `permitWrites`.
    await recordPrimary(false);
    await permitWrites(primary).catch(() => undefined);
    throw new EngineError("engine-refused", "the replica cannot be promoted; nothing was changed", cause);
  }
  // From here on the promotion stands, even if the former primary dies.
  await setPrimary(primary, replica).catch(() => undefined);
  await permitWrites(replica);
}

async function untilEqual(primary: Login, replica: Login): Promise<void> {
  const end = performance.now() + syncTimeout;
  while (!(await isEqual(primary, replica))) {
    if (performance.now() > end) {
      const message = `queries were still under way after ${syncTimeout / 1000} s; nothing was changed`;
      throw new EngineError("engine-refused", message);
    }
    await sleep(5);
  }
}

/** True if no query is in progress, and the replica has all writes of the primary and can keep them. */
async function isEqual(primary: Login, replica: Login): Promise<boolean> {
  const clients = await talk(primary, (ask) => info(ask, "clients"));
  if (clients.get("blocked_clients") !== "0") return false;
  const written = Number((await replicationOf(primary)).get("master_repl_offset"));
  // The primary may still count a replica that has just died.
  const [copy, kept] = await talk(
    replica,
    async (ask) => [await info(ask, "replication"), await info(ask, "persistence")] as const,
  ).catch((cause: unknown) => {
    throw outOfSync(cause);
  });
  return Number(copy.get("slave_repl_offset")) >= written && isSafe(kept);
}

function outOfSync(cause?: unknown): EngineError {
  return new EngineError("engine-refused", "no replica is in sync; nothing was changed", cause);
}
