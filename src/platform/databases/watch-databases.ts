import type { DatabaseListener } from "./databases.ts";
import { named, type RealDatabase } from "./real-database.ts";

/** How often processes are looked at, and how often nodes are asked, in ms. */
const [lookEvery, askEvery] = [1000, 10_000];

/**
 * Looks after databases whose processes do not end and do not serve either: those that are halted, and those that do not answer.
 * Each is reported once, until somebody has seen to it. Answers how to stop.
 */
export function watchDatabases(
  running: ReadonlyMap<string, RealDatabase>,
  listener: DatabaseListener,
): () => void {
  const wasHalted = new Set<string>();
  const asked = new Set<string>();
  const report = (id: string, one: RealDatabase, reason: string): void => {
    if (one.isEnding || one.isSuspect || running.get(id) !== one) return;
    one.isSuspect = true;
    listener.down(id, reason);
  };
  const look = (): void => {
    for (const id of wasHalted) if (!running.has(id)) wasHalted.delete(id);
    for (const [id, one] of running) {
      const [node] = one.database.halted();
      // A moment may pass until somebody goes on.
      if (node !== undefined && wasHalted.has(id))
        report(id, one, `node ${named(node.id, one.ids)} (process ${node.pid}) is halted`);
      if (node === undefined) wasHalted.delete(id);
      else wasHalted.add(id);
    }
  };
  const ask = async (id: string, one: RealDatabase): Promise<void> => {
    if (asked.has(id)) return;
    asked.add(id);
    const [node] = await one.database.silent();
    asked.delete(id);
    const isDown = one.database.down().some((each) => each.id === node?.id);
    if (node !== undefined && !isDown)
      report(id, one, `node ${named(node.id, one.ids)} (process ${node.pid}) does not answer`);
  };
  const timers = [
    setInterval(look, lookEvery),
    setInterval(() => {
      for (const [id, one] of running) if (!one.isEnding) void ask(id, one);
    }, askEvery),
  ];
  for (const timer of timers) timer.unref();
  return () => timers.forEach(clearInterval);
}
