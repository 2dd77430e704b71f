/** @module Sets up replication and waits until a replica is in sync. */
import { setTimeout as sleep } from "node:timers/promises";
import { info, type Login, talk } from "./connection.ts";
import { EngineError } from "./engine-error.ts";
import { isSafe } from "./write-permission.ts";

/** Time without progress after which replication fails, in ms. */
const progressTimeout = 30_000;

/** INFO replication of a node. */
export function replicationOf(login: Login): Promise<ReadonlyMap<string, string>> {
  return talk(login, (ask) => info(ask, "replication"));
}

/** A running node, and its login. */
export interface Peer {
  readonly login: Login;
  isAlive(): boolean;
  /** False where the node was silent for seconds without being busy. */
  responds(): Promise<boolean>;
}

/** Makes a node replicate a primary, or none; resolves at once. */
export async function setPrimary(node: Login, primary: Login | undefined): Promise<void> {
  const words = primary === undefined ? ["NO", "ONE"] : ["127.0.0.1", String(primary.port)];
  await talk(node, (ask) => ask("REPLICAOF", ...words));
}

/**
 * Makes a node replicate a primary and resolves when both report it in sync and the data is on its disk, or when the replica hangs.
 * Rejects with EngineError where it makes no progress or a process ends, or with the signal's reason.
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
      throw new EngineError(
        "engine-start",
        `the replica on port ${own.port} does not get in sync with its primary`,
      );
    }
    await sleep(10);
  }
}

/** True where a node is configured to replicate the primary on a port. */
export function isFollowing(replica: ReadonlyMap<string, string>, port: number): boolean {
  return replica.get("role") === "slave" && replica.get("master_port") === String(port);
}

/** True where the primary lists the replica on a port as online. */
export function hasReplica(primary: ReadonlyMap<string, string>, port: number): boolean {
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
