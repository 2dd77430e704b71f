/** @module Takes stock of a database: its engine, memory, keys, graphs with their schema, libraries and parameters. */
import type { Side } from "./nodes.ts";
import type { Refusal } from "./refusals.ts";

/** Everything that a replacement must carry, and everything that decides whether it can. Plain data. */
export interface Inventory {
  /** Name and version of the server program, and version of the graph module. */
  readonly engine: { readonly server: string; readonly version: string; readonly module: string };
  /** Changes with every start of the process. */
  readonly runId: string;
  readonly isCluster: boolean;
  /** In bytes; `max` 0 is no limit. */
  readonly memory: { readonly used: number; readonly max: number };
  readonly hasAppendOnlyFile: boolean;
  /** Replicas that the primary knows. */
  readonly replicas: number;
  /** Databases with keys, by number. */
  readonly databases: readonly StoredDatabase[];
  readonly libraries: readonly Library[];
  /** GRAPH.CONFIG values by name. */
  readonly parameters: { readonly [name: string]: string | number };
}

export interface StoredDatabase {
  readonly number: number;
  /** Keys that are carried, graphs included. */
  readonly keys: number;
  /** Keys that have an end. */
  readonly expiring: number;
  /** Number of keys by type, as TYPE says it. */
  readonly types: { readonly [type: string]: number };
  readonly graphs: readonly StoredGraph[];
  /** Streams of telemetry that the engine makes for a graph; they are left out. */
  readonly leftOut: number;
}

export interface StoredGraph {
  readonly name: string;
  readonly nodes: number;
  readonly edges: number;
  /** Memory of the graph in bytes, as the engine estimates it. */
  readonly memory: number;
  readonly indexes: readonly SchemaRow[];
  readonly constraints: readonly SchemaRow[];
}

/** An index or a constraint. */
export interface SchemaRow {
  /** For people, for example `unique constraint on (:User {email})`. */
  readonly title: string;
  /** OPERATIONAL, UNDER CONSTRUCTION, PENDING or FAILED. */
  readonly status: string;
  /** All that the engine says about it, without its progress: equal texts are equal definitions. */
  readonly definition: string;
}

/** A library of functions. */
export interface Library {
  readonly name: string;
  readonly code: string;
}

/** Totals for plans and reports. */
export interface Totals {
  readonly databases: number;
  readonly keys: number;
  readonly graphs: number;
  readonly nodes: number;
  readonly edges: number;
}

export function totalsOf(inventory: Inventory): Totals {
  throw new Error(`not written yet ${inventory.runId}`);
}

/** Reads all of it from the primary by commands that only read. A part that the user may not read is a refusal. */
export function takeInventory(side: Side, signal: AbortSignal): Promise<Inventory | Refusal> {
  throw new Error(`not written yet ${side.nodes.length}${signal.aborted}`);
}
