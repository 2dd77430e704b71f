/** @module Holds the running database of one instance and translates node names. */
import { type Database, type DatabaseSpec, EngineError } from "../engine/index.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { DatabaseUsers } from "./database-users.ts";
import type { RunningDatabase } from "./databases.ts";

/** The running database of one instance. */
export interface RealDatabase {
  readonly database: Database;
  readonly spec: DatabaseSpec;
  readonly instanceType: string;
  /** Node ids of the topology, in the engine's order. */
  readonly ids: readonly string[];
  readonly users: DatabaseUsers;
  /** True while it is being stopped: an exit is expected. */
  isEnding: boolean;
  /** The engine's id of a node that was found halted or silent, until the database is repaired. */
  suspect: string | undefined;
}

/** True where a change affects the processes: anything but names, texts, ports and users. */
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

/** True while its primary answers and it is not being stopped. */
export function isServing(entry: RealDatabase): boolean {
  const primary = entry.database.nodes().find(({ role }) => role === "primary");
  return !entry.isEnding && primary !== undefined && answers(entry, primary.id);
}

/**
 * Host and nodes with the node ids of the topology: the engine's `node-1` is the component's second node. A node that does not
 * answer is down, and so is a replica that is not in sync.
 */
export function describeDatabase(entry: RealDatabase): RunningDatabase {
  const { database, ids } = entry;
  const isBehind = database.trouble() !== undefined;
  const nodes = database.nodes().map(({ id, port, role }) => ({
    id: renameNodes(id, ids),
    port,
    role,
    ...(answers(entry, id) && !(isBehind && role === "replica") ? {} : { isDown: true }),
  }));
  return { host: database.host, nodes: nodes.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** A text of the engine with node ids of the topology. */
export function renameNodes(text: string, ids: readonly string[]): string {
  return text.replaceAll(/\bnode-(\d)\b(?!\/)/g, (id, index: string) => ids[Number(index)] ?? id);
}

/** Awaits `work`; the message of its EngineError gets node ids of the topology. */
export async function withNodeNames<T>(ids: readonly string[], work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new EngineError(error.code, renameNodes(error.message, ids), error);
  }
}
