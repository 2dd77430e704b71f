/** @module Holds the running database of one instance, and watches for databases that do not serve. */
import type { Database, DatabaseNode, DatabaseSpec } from "../engine/index.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { DatabaseListener, RunningDatabase } from "./databases.ts";

export interface RealDatabase {
  readonly database: Database;
  readonly spec: DatabaseSpec;
  readonly instanceType: string;
  /** True while it is being stopped: an exit is expected. */
  isEnding: boolean;
  /** Id of a node that was found halted or silent, until the database is repaired. */
  suspect: string | undefined;
}

/** True if a change affects the processes: anything but names, texts, ports and users. */
export function needsRestart(entry: RealDatabase, record: InstanceRecord, spec: DatabaseSpec): boolean {
  const comparable = ({ ports: _ports, users: _users, seed: _seed, ...rest }: DatabaseSpec): string =>
    JSON.stringify(rest);
  return (
    entry.instanceType !== String(record.params["nodeInstanceType"] ?? "") ||
    comparable(entry.spec) !== comparable(spec)
  );
}

/** True unless the process of a node has ended, is halted or does not answer. */
function answers({ database, suspect }: RealDatabase, id: string): boolean {
  return id !== suspect && !database.down().some((node) => node.id === id);
}

export function isServing(entry: RealDatabase): boolean {
  const primary = entry.database.nodes().find(({ role }) => role === "primary");
  return !entry.isEnding && primary !== undefined && answers(entry, primary.id);
}

/** Host and nodes. A node that does not answer is down, and so is a replica that is not in sync. */
export function describeDatabase(entry: RealDatabase): RunningDatabase {
  const { database } = entry;
  const isBehind = database.trouble() !== undefined;
  const nodes = database.nodes().map(({ id, port, role }) => ({
    id,
    port,
    role,
    ...(answers(entry, id) && !(isBehind && role === "replica") ? {} : { isDown: true }),
  }));
  return { host: database.host, nodes: nodes.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** Interval between checks of processes, and between pings of nodes, in ms. */
const [checkEvery, pingEvery] = [1000, 10_000];

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
    listener.down(id, `node ${node.id} (process ${node.pid}) ${what}`);
  };
  const check = (): void => {
    for (const id of wasHalted) if (!running.has(id)) wasHalted.delete(id);
    for (const [id, entry] of running) {
      const [node] = entry.database.halted();
      // The process may be halted only briefly: it is reported at the second check.
      if (node !== undefined && wasHalted.has(id)) report(id, entry, node, "is halted");
      if (node === undefined) wasHalted.delete(id);
      else wasHalted.add(id);
    }
  };
  const ping = async (id: string, entry: RealDatabase): Promise<void> => {
    if (asked.has(id)) return;
    asked.add(id);
    const [node] = await entry.database.silent();
    asked.delete(id);
    const isDown = entry.database.down().some((downNode) => downNode.id === node?.id);
    if (node !== undefined && !isDown) report(id, entry, node, "does not answer");
  };
  const timers = [
    setInterval(check, checkEvery),
    setInterval(() => {
      for (const [id, entry] of running) if (!entry.isEnding) void ping(id, entry);
    }, pingEvery),
  ];
  for (const timer of timers) timer.unref();
  return () => timers.forEach(clearInterval);
}
