/** @module Takes stock of a database: its engine, memory, keys, graphs with their schema, libraries and parameters. */
import type { Reply } from "../../database/command-socket.ts";
import { type DatabaseSettings, linesIn, pairsIn, versionIn } from "../../database/parameters.ts";
import { listOf, pairsOf, rowsOf } from "../../database/replies.ts";
import { databasesOf, graphType, idOf, keysOf } from "./keys.ts";
import type { Link } from "./link.ts";
import { askBoth, type Side } from "./nodes.ts";

/** Everything that a replacement must carry, and everything that decides whether it can. Plain data. */
export interface Inventory {
  readonly engine: Engine;
  readonly isCluster: boolean;
  /** It has an append-only file. */
  readonly isOnDisk: boolean;
  /** In bytes; `max` 0 is no limit. */
  readonly memory: { readonly used: number; readonly max: number };
  /** Databases with keys, by number. */
  readonly databases: readonly StoredDatabase[];
  /** Ms that the look at all of it took. */
  readonly took: number;
}

/** Name and version of the server program, and version of the graph module, for example valkey, 8.0.1 and 4.16.3. */
export interface Engine {
  readonly server: string;
  readonly version: string;
  readonly module: string;
}

export interface StoredDatabase {
  readonly number: number;
  /** Keys that are carried, graphs included. */
  readonly keys: number;
  /** Number of keys by type, as TYPE says it. */
  readonly types: { readonly [type: string]: number };
  readonly graphs: readonly StoredGraph[];
}

export interface StoredGraph {
  readonly name: string;
  readonly nodes: number;
  readonly edges: number;
  /** Memory of the graph in bytes, in whole megabytes, as the engine estimates it; undefined if it does not say. */
  readonly memory?: number;
  readonly indexes: readonly SchemaRow[];
  readonly constraints: readonly SchemaRow[];
}

/** An index or a constraint. */
export interface SchemaRow {
  /** For people, for example `unique constraint on User [email]`. */
  readonly title: string;
  /** OPERATIONAL, UNDER CONSTRUCTION, PENDING or FAILED. */
  readonly status: string;
  /** All that the engine says about it, without its progress: equal texts are equal definitions. */
  readonly definition: string;
}

export function isUnready({ status }: SchemaRow): boolean {
  return status !== "OPERATIONAL";
}

/** Totals for plans and reports. */
export function totalsOf({
  databases,
}: Inventory): Record<"databases" | "keys" | "graphs" | "nodes" | "edges", number> {
  const graphs = databases.flatMap((database) => database.graphs);
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  return {
    ...{ databases: databases.length, keys: sum(databases.map(({ keys }) => keys)), graphs: graphs.length },
    ...{ nodes: sum(graphs.map(({ nodes }) => nodes)), edges: sum(graphs.map(({ edges }) => edges)) },
  };
}

/** Reads all of it from the primary by commands that only read; of each database `enough` keys at least. Rejects with the Error of a command that the user may not run, too. */
export async function takeInventory(
  { primary }: Side,
  signal: AbortSignal,
  enough: number = Number.POSITIVE_INFINITY,
): Promise<Inventory> {
  const begun = performance.now();
  const { control } = primary;
  const info = linesIn(await control.one(["INFO"]));
  const databases: StoredDatabase[] = [];
  for (const number of await databasesOf(control)) {
    const link = await primary.open(signal, number);
    databases.push(await storedIn(link, number, enough).finally(link.close));
  }
  return {
    engine: {
      server: info["server_name"] ?? "redis",
      version: info["valkey_version"] ?? info["redis_version"] ?? "",
      module: versionIn(await control.one(["MODULE", "LIST"])) ?? "",
    },
    isCluster: info["cluster_enabled"] === "1",
    isOnDisk: info["aof_enabled"] === "1",
    memory: { used: Number(info["used_memory"]), max: Number(info["maxmemory"]) },
    databases,
    took: Math.round(performance.now() - begun),
  };
}

async function storedIn(link: Link, number: number, enough: number): Promise<StoredDatabase> {
  const types: Record<string, number> = {};
  const seen = new Set<string>();
  const graphs: StoredGraph[] = [];
  for await (const keys of keysOf(link)) {
    for (const { name, type } of keys) {
      const id = idOf({ name });
      if (seen.has(id)) continue;
      seen.add(id);
      types[type] = (types[type] ?? 0) + 1;
      const graph = type === graphType ? await graphOf(link, name) : undefined;
      if (graph !== undefined) graphs.push(graph);
    }
    if (seen.size >= enough) break;
  }
  graphs.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { number, keys: seen.size, types, graphs };
}

/** Counts and schema of one graph; undefined if it is gone by now. Rejects if it cannot be read. */
export async function graphOf(link: Link, name: Buffer): Promise<StoredGraph | undefined> {
  const ask = (query: string): readonly [string, Buffer, string] => ["GRAPH.RO_QUERY", name, query];
  const [nodes, edges, indexes, constraints, memory] = await link.all([
    ask("MATCH (n) RETURN count(n)"),
    ask("MATCH ()-[e]->() RETURN count(e)"),
    ask("CALL db.indexes()"),
    ask("CALL db.constraints()"),
    ["GRAPH.MEMORY", "USAGE", name],
  ]);
  const cause = [nodes, edges, indexes, constraints].find((reply) => reply instanceof Error);
  if (cause !== undefined && (await link.one(["TYPE", name])) === "none") return undefined;
  if (cause !== undefined) throw new Error(`graph ${name}: ${cause.message}`, { cause });
  const megabytes = pairsOf(memory).get("total_graph_sz_mb");
  return {
    name: name.toString(),
    nodes: Number(rowsOf(nodes)[0]?.[0]),
    edges: Number(rowsOf(edges)[0]?.[0]),
    ...(typeof megabytes === "number" ? { memory: megabytes * 1_000_000 } : {}),
    indexes: schemaRows(indexes, ({ label, types }) => `index on ${label} ${types}`),
    constraints: schemaRows(
      constraints,
      ({ type, label, properties }) => `${String(type).toLowerCase()} constraint on ${label} ${properties}`,
    ),
  };
}

/** `info` is the progress of an index, and the sizes of its parts. */
function schemaRows(
  reply: Reply | undefined,
  titleOf: (row: { readonly [column: string]: Reply }) => string,
): readonly SchemaRow[] {
  const columns = listOf(listOf(reply)[0]).map(String);
  return rowsOf(reply).map((cells) => {
    const row = Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? null]));
    const { info: _, status, ...definition } = row;
    return { title: titleOf(row), status: String(status), definition: JSON.stringify(definition) };
  });
}

/** Libraries with their code; none if the engine does not know them. */
export async function librariesOf(
  control: Link,
): Promise<readonly { readonly name: string; readonly code: string }[]> {
  const [reply = null] = await control.all([["GRAPH.UDF", "LIST", "WITHCODE"]]);
  if (reply instanceof Error && !/unknown command/i.test(reply.message)) throw reply;
  return listOf(reply).map((library) => {
    const facts = pairsOf(library);
    return { name: String(facts.get("library_name")), code: String(facts.get("library_code")) };
  });
}

/** GRAPH.CONFIG values by name. */
export async function parametersOf(control: Link): Promise<DatabaseSettings["parameters"]> {
  return pairsIn(await control.one(["GRAPH.CONFIG", "GET", "*"]));
}

/** Parameters that can be set while a database runs; all others are those of its configuration. */
const atRunTime = new Set(
  `TIMEOUT TIMEOUT_DEFAULT TIMEOUT_MAX RESULTSET_SIZE QUERY_MEM_CAPACITY MAX_QUEUED_QUERIES VKEY_MAX_ENTITY_COUNT CMD_INFO
  MAX_INFO_QUERIES EFFECTS_THRESHOLD DELTA_MAX_PENDING_CHANGES`.split(/\s+/),
);

/** Parameters of the source, as far as they can be carried, that the target has otherwise. */
export async function parametersToCarry(
  source: Side,
  target: Side,
  keep: readonly string[],
): Promise<{ readonly [name: string]: string | number }> {
  const [theirs, ours] = await askBoth([source, target], parametersOf);
  const others = Object.entries(theirs ?? {}).filter(([name, value]) => ours?.[name] !== value);
  return Object.fromEntries(others.filter(([name]) => atRunTime.has(name) && !keep.includes(name)));
}
