/** @module Permits writes to the recorded primary only. */
import { setTimeout as sleep } from "node:timers/promises";
import { info, type Login, talk } from "./connection.ts";
import { EngineError } from "./engine-error.ts";

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
 * Permits the primary to take writes, once its data is safe on its disk: a new replica that is still writing its first append-only
 * file would lose all of it. Rejects with EngineError where the file cannot be written.
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

/** True where a node takes writes unless it is a replica. */
export async function takesWrites(login: Login): Promise<boolean> {
  const reply = await talk(login, (ask) => ask("CONFIG", "GET", refusal[0]));
  return Array.isArray(reply) && reply[1] === "0";
}

/** True where a kill would lose nothing, by INFO persistence. */
export function isSafe(persistence: ReadonlyMap<string, string>): boolean {
  return (
    persistence.get("aof_enabled") !== "1" ||
    (persistence.get("aof_rewrite_in_progress") === "0" && persistence.get("aof_rewrite_scheduled") === "0")
  );
}
