import { setTimeout as sleep } from "node:timers/promises";
import { info, type Login, talk } from "./connection.ts";
import { EngineError } from "./engine-error.ts";

/** How long a step of replication may make no progress, in ms. */
const patience = 30_000;

/** What a node says of itself: INFO replication. */
export function replicationOf(login: Login): Promise<ReadonlyMap<string, string>> {
  return talk(login, (ask) => info(ask, "replication"));
}

/**
 * Makes a node follow a primary, if it does not yet, and resolves when both say that it has all of the data.
 * Rejects with EngineError where it makes no progress, or with the signal's reason.
 */
export async function follow(replica: Login, primary: Login, signal?: AbortSignal): Promise<void> {
  let progress = "";
  let moved = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    const seen = await replicationOf(replica).catch(() => new Map<string, string>());
    const follows = seen.get("role") === "slave" && seen.get("master_port") === String(primary.port);
    if (
      follows &&
      seen.get("master_link_status") === "up" &&
      hasReplica(await replicationOf(primary), replica.port)
    )
      return;
    if (seen.size > 0 && !follows) {
      await talk(replica, (ask) => ask("REPLICAOF", "127.0.0.1", String(primary.port))).catch(
        () => undefined,
      );
    }
    const now = ["master_sync_read_bytes", "slave_repl_offset", "role"].map((name) => seen.get(name)).join();
    if (now !== progress) moved = performance.now();
    progress = now;
    if (performance.now() - moved > patience) {
      throw new EngineError(
        "engine-start",
        `the replica on port ${replica.port} does not get in sync with its primary`,
      );
    }
    await sleep(10);
  }
}

/** True where the primary counts the port among its replicas that are in sync. */
export function hasReplica(primary: ReadonlyMap<string, string>, port: number): boolean {
  return [...primary].some(([name, value]) => {
    const fields = new Set(value.split(","));
    return /^slave\d+$/.test(name) && fields.has(`port=${port}`) && fields.has("state=online");
  });
}
