/** @module Watches for databases whose processes run and do not serve. */
import type { DatabaseNode } from "../engine/index.ts";
import type { DatabaseListener } from "./databases.ts";
import { type RealDatabase, renameNodes } from "./real-database.ts";

/** Interval between checks of processes, and between pings of nodes, in ms. */
const [lookEvery, askEvery] = [1000, 10_000];

/** Reports halted and silent nodes to the listener, each database once until it is repaired. Returns a function that ends the watch. */
export function watchDatabases(
  running: ReadonlyMap<string, RealDatabase>,
  listener: DatabaseListener,
): () => void {
  const wasHalted = new Set<string>();
  const asked = new Set<string>();
  const report = (id: string, entry: RealDatabase, node: DatabaseNode, what: string): void => {
    if (entry.isEnding || entry.suspect !== undefined || running.get(id) !== entry) return;
    entry.suspect = node.id;
    listener.down(id, `node ${renameNodes(node.id, entry.ids)} (process ${node.pid}) ${what}`);
  };
  const look = (): void => {
    for (const id of wasHalted) if (!running.has(id)) wasHalted.delete(id);
    for (const [id, entry] of running) {
      const [node] = entry.database.halted();
      // The process may be halted only briefly: it is reported at the second check.
      if (node !== undefined && wasHalted.has(id)) report(id, entry, node, "is halted");
      if (node === undefined) wasHalted.delete(id);
      else wasHalted.add(id);
    }
  };
  const ask = async (id: string, entry: RealDatabase): Promise<void> => {
    if (asked.has(id)) return;
    asked.add(id);
    const [node] = await entry.database.silent();
    asked.delete(id);
    const isDown = entry.database.down().some((downNode) => downNode.id === node?.id);
    if (node !== undefined && !isDown) report(id, entry, node, "does not answer");
  };
  const timers = [
    setInterval(look, lookEvery),
    setInterval(() => {
      for (const [id, entry] of running) if (!entry.isEnding) void ask(id, entry);
    }, askEvery),
  ];
  for (const timer of timers) timer.unref();
  return () => timers.forEach(clearInterval);
}
