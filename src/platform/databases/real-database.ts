import { type Database, type DatabaseSpec, EngineError } from "../engine/index.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { DatabaseUsers } from "./database-users.ts";
import type { RunningDatabase } from "./databases.ts";

/** The database of one instance, once it was brought up. */
export interface RealDatabase {
  readonly database: Database;
  readonly spec: DatabaseSpec;
  readonly instanceType: string;
  /** Names of its nodes in the topology, in the engine's order. */
  readonly ids: readonly string[];
  readonly users: DatabaseUsers;
  /** Its end is wanted: an exit is no accident. */
  isEnding: boolean;
  /** A node of it was found to be halted or silent, and nobody has seen to that yet. */
  isSuspect: boolean;
}

/** True where a change reaches the processes: all but names, texts, ports and users. */
export function needsRestart(entry: RealDatabase, record: InstanceRecord, spec: DatabaseSpec): boolean {
  const compared = ({ ports: _ports, users: _users, seed: _seed, ...rest }: DatabaseSpec): string =>
    JSON.stringify(rest);
  return (
    entry.instanceType !== String(record.params["nodeInstanceType"] ?? "") ||
    compared(entry.spec) !== compared(spec)
  );
}

/** Nodes under the names of the topology: the engine's `node-1` is the component's second. */
export function shown({ database, ids }: RealDatabase): RunningDatabase {
  const down = new Set(database.down().map(({ id }) => id));
  const nodes = database.nodes().map(({ id, port, role }) => ({
    id: named(id, ids),
    port,
    role,
    ...(down.has(id) ? { isDown: true } : {}),
  }));
  return { host: database.host, nodes: nodes.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** A text of the engine with the topology's names of nodes. */
export function named(text: string, ids: readonly string[]): string {
  return text.replaceAll(/\bnode-(\d)\b(?!\/)/g, (id, index: string) => ids[Number(index)] ?? id);
}

/** Passes on what the engine rejects with, with the topology's names of nodes. */
export async function withNodeNames<T>(ids: readonly string[], work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new EngineError(error.code, named(error.message, ids), error);
  }
}
