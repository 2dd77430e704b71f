/** @module Takes stock of a database: its engine, memory, keys, graphs with their schema, libraries and parameters. */
import { databasesIn, graphType, idOf, keysOf } from "./keys.ts";
import type { Link, Reply } from "./link.ts";
import type { Side } from "./nodes.ts";
import { infoOf, listOf, pairsOf, rowsOf } from "./replies.ts";

/** Everything that a replacement must carry, and everything that decides whether it can. Plain data. */
export interface Inventory {
  readonly engine: Engine;
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
  readonly parameters: Parameters;
}

/** Name and version of the server program, and version of the graph module, for example valkey, 8.0.1 and 4.16.3. */
export interface Engine {
  readonly server: string;
  readonly version: string;
  readonly module: string;
}

export interface Parameters {
  readonly [name: string]: string | number;
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

export function totalsOf({ databases }: Inventory): Totals {
  const graphs = databases.flatMap((database) => database.graphs);
  return {
    databases: databases.length,
    keys: databases.reduce((sum, { keys }) => sum + keys, 0),
    graphs: graphs.length,
    nodes: graphs.reduce((sum, { nodes }) => sum + nodes, 0),
    edges: graphs.reduce((sum, { edges }) => sum + edges, 0),
  };
}

/** Reads all of it from the primary by commands that only read. Rejects with the Error of a command that the user may not run, too. */
export async function takeInventory({ primary }: Side, signal: AbortSignal): Promise<Inventory> {
  const { control } = primary;
  const info = infoOf(await control.one(["INFO"]));
  const databases: StoredDatabase[] = [];
  for (const number of databasesIn(info)) {
    const link = await primary.open(signal, number);
    try {
      databases.push(await storedIn(link, number));
    } finally {
      link.close();
    }
  }
  return {
    engine: {
      server: info["server_name"] ?? "redis",
      version: info["valkey_version"] ?? info["redis_version"] ?? "",
      module: moduleVersion(await control.one(["MODULE", "LIST"])),
    },
    runId: info["run_id"] ?? "",
    isCluster: info["cluster_enabled"] === "1",
    memory: { used: Number(info["used_memory"]), max: Number(info["maxmemory"]) },
    hasAppendOnlyFile: info["aof_enabled"] === "1",
    replicas: Number(info["connected_slaves"]),
    databases,
    libraries: await librariesOf(control),
    parameters: await parametersOf(control),
  };
}

async function storedIn(link: Link, number: number): Promise<StoredDatabase> {
  const types: Record<string, number> = {};
  const seen = new Set<string>();
  const graphs: StoredGraph[] = [];
  let expiring = 0;
  for await (const keys of keysOf(link))
    for (const { name, type, end } of keys) {
      const id = idOf({ name });
      if (seen.has(id)) continue;
      seen.add(id);
      types[type] = (types[type] ?? 0) + 1;
      if (end > 0) expiring += 1;
      if (type === graphType) graphs.push(await graphOf(link, name));
    }
  graphs.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { number, keys: seen.size, expiring, types, graphs };
}

/** Counts and schema of one graph. Rejects if it cannot be read. */
export async function graphOf(link: Link, name: Buffer): Promise<StoredGraph> {
  const ask = (query: string): readonly [string, Buffer, string] => ["GRAPH.RO_QUERY", name, query];
  const replies = await link.all([
    ask("MATCH (n) RETURN count(n)"),
    ask("MATCH ()-[e]->() RETURN count(e)"),
    ask("CALL db.indexes()"),
    ask("CALL db.constraints()"),
    ["GRAPH.MEMORY", "USAGE", name],
  ]);
  const [nodes, edges, indexes, constraints, memory] = replies;
  for (const reply of [nodes, edges, indexes, constraints])
    if (reply instanceof Error) throw new Error(`graph ${name}: ${reply.message}`, { cause: reply });
  const megabytes = pairsOf(memory).get("total_graph_sz_mb");
  return {
    name: name.toString(),
    nodes: Number(rowsOf(nodes)[0]?.[0]),
    edges: Number(rowsOf(edges)[0]?.[0]),
    ...(typeof megabytes === "number" ? { memory: megabytes * 1_000_000 } : {}),
    indexes: schemaRows(indexes, (row) => `index on ${row["label"]} ${row["types"]}`),
    constraints: schemaRows(constraints, (row) => {
      const of = `${row["label"]} ${row["properties"]}`;
      return `${String(row["type"]).toLowerCase()} constraint on ${of}`;
    }),
  };
}

/** `info` is the progress of an index, and the sizes of its parts. */
function schemaRows(
  reply: Reply | undefined,
  titleOf: (row: { readonly [column: string]: Reply }) => string,
): readonly SchemaRow[] {
  const columns = listOf(listOf(reply)[0]).map(String);
  const rows = rowsOf(reply).map((row) => {
    const cells = columns.map((column, at): [string, Reply] => [column, row[at] ?? null]);
    const all = Object.fromEntries(cells);
    const definition = JSON.stringify(cells.filter(([column]) => column !== "info" && column !== "status"));
    return { title: titleOf(all), status: String(all["status"]), definition };
  });
  return rows.sort((a, b) => (a.definition < b.definition ? -1 : 1));
}

/** Libraries with their code; none if the engine does not know them. */
export async function librariesOf(control: Link): Promise<readonly Library[]> {
  const [reply = null] = await control.all([["GRAPH.UDF", "LIST", "WITHCODE"]]);
  if (reply instanceof Error && !/unknown command/i.test(reply.message)) throw reply;
  return listOf(reply).map((library) => {
    const facts = pairsOf(library);
    return { name: String(facts.get("library_name")), code: String(facts.get("library_code")) };
  });
}

/** GRAPH.CONFIG values by name. */
export async function parametersOf(control: Link): Promise<Parameters> {
  const list = listOf(await control.one(["GRAPH.CONFIG", "GET", "*"]));
  return Object.fromEntries(
    list
      .map(listOf)
      .flatMap(([name, value]): [string, string | number][] =>
        typeof value === "number" || typeof value === "string" ? [[String(name), value]] : [],
      ),
  );
}

/** `ver` of the graph module: 41603 is 4.16.3. */
function moduleVersion(reply: Reply): string {
  const graph = listOf(reply)
    .map(pairsOf)
    .find((facts) => facts.get("name") === "graph");
  const version = Number(graph?.get("ver") ?? 0);
  return [Math.floor(version / 10_000), Math.floor(version / 100) % 100, version % 100].join(".");
}
