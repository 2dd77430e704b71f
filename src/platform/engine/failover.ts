import { setTimeout as sleep } from "node:timers/promises";
import { info, type Login, talk } from "./connection.ts";
import { EngineError } from "./engine-error.ts";
import { hasReplica, replicationOf, setPrimary } from "./replication.ts";
import { forbidWrites, isSafe, permitWrites } from "./write-permission.ts";

/** How long queries under way, and the replica, may take to finish, in ms. */
const syncTimeout = 10_000;

/**
 * Swaps the roles of two nodes without losing a write: the primary is forbidden to take any (NOREPLICAS), those under way finish
 * and reach the replica, it is written down (`decide`) that the replica is primary from now on, and only then it is promoted and
 * permitted to take writes. Whenever this process is killed, the record says whose data count, and nobody else takes writes.
 * Rejects with EngineError, and leaves everything as it was, where no replica is in sync, it does not catch up, or the decision
 * cannot be written down.
 *
 * The server's own FAILOVER is of no use here: a query of the graph module that is under way then ends in an assertion, and
 * the primary crashes.
 */
export async function swapRoles(
  primary: Login,
  replica: Login,
  decide: (isReplica: boolean) => Promise<void>,
): Promise<void> {
  if (!hasReplica(await replicationOf(primary), replica.port)) throw outOfSync();
  try {
    await forbidWrites(primary);
    await untilEqual(primary, replica);
    await decide(true);
  } catch (error) {
    await permitWrites(primary).catch(() => undefined);
    throw error;
  }
  try {
    await setPrimary(replica, undefined);
  } catch (cause) {
    // It may be promoted all the same: it is forbidden to take writes until somebody permits it.
    await decide(false);
    await permitWrites(primary).catch(() => undefined);
    throw new EngineError("engine-refused", "the replica cannot be promoted; nothing was changed", cause);
  }
  // From here on the promotion holds, also where the former primary dies.
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

/** True where no query is under way, and the replica has read all that the primary wrote and is able to keep it. */
async function isEqual(primary: Login, replica: Login): Promise<boolean> {
  const clients = await talk(primary, (ask) => info(ask, "clients"));
  if (clients.get("blocked_clients") !== "0") return false;
  const written = Number((await replicationOf(primary)).get("master_repl_offset"));
  // One that died just now may still count as there.
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
