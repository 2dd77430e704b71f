/** @module Proves that a replica received every write of a primary that has ended. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Login } from "./connection.ts";
import { lastWriteOf } from "./node-data.ts";
import { configuredPort, type NodeFiles } from "./node-files.ts";
import { isFollowing, replicationOf } from "./replication.ts";

/** Time for a replica to read what its ended primary still sent, without progress, in ms. */
const drainTimeout = 5000;

/**
 * True where a running replica of an ended primary has read all that it was sent, and its link held until the primary's last write
 * to its files. A replica whose link broke earlier, or that copies the data again, misses what was written since.
 */
export async function heardItsPrimaryToTheEnd(replica: Login, primary: NodeFiles): Promise<boolean> {
  const port = await configuredPort(primary);
  let offset: string | undefined;
  for (let moved = performance.now(); performance.now() - moved < drainTimeout; await sleep(10)) {
    const seen = await replicationOf(replica).catch(() => new Map<string, string>());
    if (port === undefined || !isFollowing(seen, port) || seen.get("master_sync_in_progress") === "1")
      return false;
    // The link of an ended primary breaks once all of it is read.
    if (seen.get("master_link_status") !== "up") return heldUntilLastWrite(seen, await lastWriteOf(primary));
    if (seen.get("slave_repl_offset") !== offset) moved = performance.now();
    offset = seen.get("slave_repl_offset");
  }
  return false;
}

/** True where the link broke after the primary's last write, as exactly as the server's whole seconds show it. */
function heldUntilLastWrite(replica: ReadonlyMap<string, string>, lastWrite: number): boolean {
  const down = Number(replica.get("master_link_down_since_seconds") ?? -1);
  return down >= 0 && lastWrite < (Math.floor(Date.now() / 1000) - down + 1) * 1000;
}
