import { setTimeout as sleep } from "node:timers/promises";
import { info, type Login, talk } from "./connection.ts";
import { EngineError } from "./engine-error.ts";

/**
 * The one rule about writes: nobody takes any before it is written down who is primary, and a node that is primary no longer
 * never does again. Every node is configured to refuse writes (NOREPLICAS), is so from its first moment, and is permitted to take
 * them while it runs, by `permitWrites` alone, after the record of the database names it.
 */

/** More replicas than there ever are: a primary that wants them refuses writes. */
export const refusal: readonly [name: string, value: string] = ["min-replicas-to-write", "1000"];

/** How long a node's append-only file may take to be complete, in ms. */
const permitTimeout = 600_000;

/** Makes a node refuse writes. Replicas refuse them anyway; it holds for what they become. */
export async function forbidWrites(login: Login): Promise<void> {
  await talk(login, (ask) => ask("CONFIG", "SET", ...refusal));
}

/**
 * Lets the primary take writes. Waits for what it has to be safe on its disk first: a replica that was filled a moment ago
 * is still writing its first append-only file, and would lose all of it. Rejects with EngineError where it cannot write it.
 */
export async function permitWrites(login: Login): Promise<void> {
  await talk(
    login,
    async (ask) => {
      for (;;) {
        const seen = await info(ask, "persistence");
        if (isSafe(seen)) break;
        if (seen.get("aof_last_bgrewrite_status") === "err" && seen.get("aof_rewrite_in_progress") === "0")
          throw new EngineError(
            "engine-start",
            `the database on port ${login.port} cannot write its append-only file`,
          );
        await sleep(20);
      }
      await ask("CONFIG", "SET", refusal[0], "0");
    },
    permitTimeout,
  );
}

/** True where a node takes writes as soon as it is no replica. */
export async function takesWrites(login: Login): Promise<boolean> {
  const reply = await talk(login, (ask) => ask("CONFIG", "GET", refusal[0]));
  return Array.isArray(reply) && reply[1] === "0";
}

/** True where all that a node has would be there after a kill, as INFO persistence tells it. */
export function isSafe(persistence: ReadonlyMap<string, string>): boolean {
  return (
    persistence.get("aof_enabled") !== "1" ||
    (persistence.get("aof_rewrite_in_progress") === "0" && persistence.get("aof_rewrite_scheduled") === "0")
  );
}
