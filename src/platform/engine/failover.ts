/** @module Swaps the roles of primary and replica without losing a write. */
import { setTimeout as sleep } from "node:timers/promises";
import { info, type Login, talk } from "./connection.ts";
import { openFolder, saveRecord, withDataState, withPrimary } from "./database-record.ts";
import { EngineError } from "./engine-error.ts";
import type { LiveNode } from "./live-node.ts";
import { removeData } from "./node-data.ts";
import type { LoginOf } from "./node-health.ts";
import { hasReplica, replicationOf, setPrimary } from "./replication.ts";
import { forbidWrites, isSafe, permitWrites } from "./write-permission.ts";

/** Time for queries in progress and replication to finish, in ms. */
const syncTimeout = 10_000;

/**
 * Steps: the primary is set to refuse writes (NOREPLICAS); writes in progress finish and reach the replica; `recordPrimary` records
 * the replica as primary; only then it is promoted and permitted to take writes. If this process is killed, the record says which
 * data counts, and no other node takes writes. Rejects with EngineError and changes nothing where no replica is in sync, it does not
 * catch up, or the record cannot be written. The server's own FAILOVER cannot be used: a query of the graph module in progress then
 * fails an assertion, and the primary crashes.
 */
async function swapRoles(
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
      const seconds = syncTimeout / 1000;
      throw new EngineError(
        "engine-refused",
        `queries were still under way after ${seconds} s; nothing was changed`,
      );
    }
    await sleep(5);
  }
}

/** True where no query is in progress, and the replica has all writes of the primary and can keep them. */
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

/** Swaps primary and replica and records the new primary. Rejects as `swapRoles` does. */
export async function swapNodes(
  dir: string,
  nodes: readonly [LiveNode, LiveNode],
  loginOf: LoginOf,
): Promise<void> {
  const [primary, replica] = nodes;
  const recordPrimary = async (isReplica: boolean): Promise<void> => {
    const { record } = await openFolder(dir, nodes.length);
    await saveRecord(dir, withPrimary(record, isReplica ? replica.index : primary.index));
  };
  await swapRoles(loginOf(primary), loginOf(replica), recordPrimary);
}

/** Records that a stopped replica has no data, and deletes its data. */
export async function emptyNode(dir: string, nodes: number, { index, files }: LiveNode): Promise<void> {
  const { record } = await openFolder(dir, nodes);
  await saveRecord(dir, withDataState(record, index, "none"));
  await removeData(files);
}
