/** @module Writes a snapshot of a running database to a file. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ask, info, isRefusal, type Login, talk } from "./connection.ts";
import { EngineError } from "./engine-error.ts";
import type { NodeFiles } from "./node-files.ts";
import { copyWhole } from "./prepare-data.ts";
import { logExcerpt } from "./server-log.ts";

/** Maximum time for a snapshot, in ms. */
const longest = 600_000;

/** Makes the server write a snapshot that begins after this call, and copies it to `file`. Rejects with EngineError. */
export async function takeSnapshot(files: NodeFiles, login: Login, file: string): Promise<void> {
  await talk(login, (ask) => save(ask, files), longest);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await copyWhole(join(files.data, "dump.rdb"), file);
}

async function save(ask: Ask, files: NodeFiles): Promise<void> {
  while (!(await begins(ask))) await untilIdle(ask);
  const after = await untilIdle(ask);
  if (after.get("rdb_last_bgsave_status") === "ok") return;
  throw new EngineError(
    "engine-refused",
    `the snapshot cannot be written: ${await logExcerpt(files.log)} (log: ${files.log})`,
  );
}

/** True where a snapshot begins now; false while another one, or a rewrite of the append-only file, runs. */
async function begins(ask: Ask): Promise<boolean> {
  try {
    await ask("BGSAVE");
    return true;
  } catch (error) {
    if (isRefusal(error) && /in progress|AOF|another child/i.test(error.message)) return false;
    throw error;
  }
}

async function untilIdle(ask: Ask): Promise<ReadonlyMap<string, string>> {
  for (;;) {
    const seen = await info(ask, "persistence");
    if (seen.get("rdb_bgsave_in_progress") === "0" && seen.get("aof_rewrite_in_progress") === "0")
      return seen;
    await sleep(10);
  }
}
