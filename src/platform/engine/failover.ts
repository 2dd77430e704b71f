import { setTimeout as sleep } from "node:timers/promises";
import { info, type Login, talk } from "./connection.ts";
import { EngineError } from "./engine-error.ts";
import { hasReplica, replicationOf } from "./replication.ts";

/** How long queries under way, and the replica, may take to finish, in ms. */
const patience = 10_000;

/** More replicas than there ever are: while a primary wants them, it refuses writes. */
const neverEnough = "1000";

/**
 * Swaps the roles of two nodes without losing a write: new writes are refused for a moment (NOREPLICAS), those under way
 * finish and reach the replica, and only then it is promoted. `decide` is told, for the case that this process is killed,
 * that from now on the replica's data counts, or that it does not after all. Rejects with EngineError, and leaves everything as it was, where no replica is in sync or it does not catch up.
 *
 * The server's own FAILOVER is of no use here: a query of the graph module that is under way then ends in an assertion, and
 * the primary crashes.
 */
export async function swapRoles(
  primary: Login,
  replica: Login,
  decide: (isReplica: boolean) => Promise<void>,
): Promise<void> {
  const before = await replicationOf(primary).catch((cause: unknown) => {
    throw new EngineError(
      "engine-refused",
      "the primary does not answer; revive it before a failover",
      cause,
    );
  });
  if (!hasReplica(before, replica.port)) throw outOfSync();
  await refuseWrites(primary, true);
  try {
    await untilEqual(primary, replica);
    await decide(true);
    await talk(replica, (ask) => ask("REPLICAOF", "NO", "ONE")).catch(async (cause: unknown) => {
      await decide(false);
      throw new EngineError("engine-refused", "the replica cannot be promoted; nothing was changed", cause);
    });
    // From here on the promotion holds, also where the former primary dies.
    await talk(primary, (ask) => ask("REPLICAOF", "127.0.0.1", String(replica.port))).catch(() => undefined);
  } finally {
    await refuseWrites(primary, false).catch(() => undefined);
  }
}

/** Makes a node refuse writes, or take them again. */
export async function refuseWrites(login: Login, isRefusing: boolean): Promise<void> {
  await talk(login, (ask) => ask("CONFIG", "SET", "min-replicas-to-write", isRefusing ? neverEnough : "0"));
}

async function untilEqual(primary: Login, replica: Login): Promise<void> {
  const end = performance.now() + patience;
  while (!(await isEqual(primary, replica))) {
    if (performance.now() > end) {
      const seconds = patience / 1000;
      throw new EngineError(
        "engine-refused",
        `queries were still under way after ${seconds} s; nothing was changed`,
      );
    }
    await sleep(5);
  }
}

/** True where no query is under way and the replica has read all that the primary wrote. */
async function isEqual(primary: Login, replica: Login): Promise<boolean> {
  const clients = await talk(primary, (ask) => info(ask, "clients"));
  if (clients.get("blocked_clients") !== "0") return false;
  const written = Number((await replicationOf(primary)).get("master_repl_offset"));
  // One that died just now may still count as there.
  const copy = await replicationOf(replica).catch((cause: unknown) => {
    throw outOfSync(cause);
  });
  return Number(copy.get("slave_repl_offset")) >= written;
}

function outOfSync(cause?: unknown): EngineError {
  return new EngineError("engine-refused", "no replica is in sync; nothing was changed", cause);
}
