/** @module Compares every node and every edge of a graph on two sides, in ranges of their ids. */
import { type Job, runWithin } from "./in-flight.ts";
import type { Link, Reply } from "./link.ts";
import { listOf, rowsOf } from "./replies.ts";

/** Connections to the same database of both sides. */
export interface Pair {
  readonly source: Link;
  readonly target: Link;
}

export interface RowDifference {
  readonly what: "node" | "edge";
  readonly message: string;
}

/** Rows of one range. */
const most = 10_000;

/** Nodes from id `a` to before `b`; edges that start there, with ids from `p` to before `q`. */
interface Range {
  readonly what: RowDifference["what"];
  readonly a: number;
  readonly b: number;
  readonly p: number;
  readonly q: number;
}

const queries: { readonly [what in Range["what"]]: string } = {
  node: "MATCH (n) WHERE id(n) >= $a AND id(n) < $b RETURN id(n), labels(n), properties(n)",
  edge: `MATCH (n)-[e]->(m) WHERE id(n) >= $a AND id(n) < $b AND id(e) >= $p AND id(e) < $q
    RETURN id(e), type(e), id(n), id(m), properties(e)`,
};

export interface GraphTask {
  readonly name: Buffer;
  /** RESULTSET_SIZE of both sides, whichever is smaller: an answer of that many rows may have been cut. Negative: no limit. */
  readonly resultSize: number;
  /** Called with rows that were compared. */
  onRows(what: Range["what"], rows: number): void;
  onDifference(difference: RowDifference): void;
}

/**
 * Reads ids, labels and properties of all nodes, and ids, types, ends and properties of all edges, on both sides at once. The order of rows
 * does not matter. Rejects with the Error of a side that cannot read its graph.
 */
export async function compareRows(pairs: readonly Pair[], task: GraphTask): Promise<void> {
  const [pair] = pairs;
  if (pair === undefined) return;
  const ask = (query: string): Promise<readonly Reply[]> =>
    Promise.all([pair.source, pair.target].map((link) => link.one(["GRAPH.RO_QUERY", task.name, query])));
  const ends = (replies: readonly Reply[]): number =>
    Math.max(-1, ...replies.map((reply) => Number(rowsOf(reply)[0]?.[0] ?? -1))) + 1;
  const nodes = ends(await ask("MATCH (n) RETURN max(id(n))"));
  const edges = ends(await ask("MATCH ()-[e]->() RETURN max(id(e))"));
  const limit = task.resultSize < 0 ? most : Math.max(1, Math.min(most, task.resultSize - 1));
  const step = { node: limit, edge: Math.max(1, Math.floor((limit * nodes) / Math.max(1, 2 * edges))) };
  const jobs = async function* (): AsyncGenerator<Job<Pair>> {
    for (const what of ["node", "edge"] as const)
      for (let a = 0; a < (what === "edge" && edges === 0 ? 0 : nodes); a += Math.min(step[what], most)) {
        const range = { what, a, b: Math.min(nodes, a + Math.min(step[what], most)), p: 0, q: edges };
        yield { weight: 1, run: (worker) => compareRange(worker, range, limit, task) };
      }
  };
  await runWithin(jobs(), pairs, pairs.length);
}

async function compareRange(pair: Pair, range: Range, limit: number, task: GraphTask): Promise<void> {
  const { what, a, b, p, q } = range;
  const query = `CYPHER a=${a} b=${b} p=${p} q=${q} ${queries[what]} LIMIT ${limit + 1}`;
  const replies = await Promise.all(
    [pair.source, pair.target].map(async (link) => {
      const [reply = null] = await link.all([["GRAPH.RO_QUERY", task.name, query, "--compact"]]);
      if (!(reply instanceof Error)) return rowsOf(reply);
      if (/timed out/i.test(reply.message) && (b - a > 1 || q - p > 1)) return undefined;
      throw reply;
    }),
  );
  const [source, target] = replies;
  if (source === undefined || target === undefined || source.length > limit || target.length > limit) {
    for (const half of halvesOf(range)) await compareRange(pair, half, limit, task);
    return;
  }
  task.onRows(what, source.length);
  // Both sides usually list a range in the same order.
  if (JSON.stringify(source) === JSON.stringify(target)) return;
  const [before, after] = [source, target].map(
    (rows) => new Map(rows.map((row) => [String(cell(row[0])), row])),
  );
  for (const id of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])) {
    const [old, now] = [before?.get(id), after?.get(id)];
    const where = `${what} ${id} of graph ${task.name}`;
    if (old === undefined) task.onDifference({ what, message: `${where} exists only in the new database` });
    else if (now === undefined)
      task.onDifference({ what, message: `${where} is missing in the new database` });
    else if (ordered(old) !== ordered(now)) task.onDifference({ what, message: `${where} is not the same` });
  }
}

/** Nodes are halved first, then the edges of one node. */
function halvesOf(range: Range): readonly Range[] {
  const { a, b, p, q } = range;
  const [middle, cut] = [Math.ceil((a + b) / 2), Math.ceil((p + q) / 2)];
  if (b - a > 1)
    return [
      { ...range, b: middle },
      { ...range, a: middle },
    ];
  return [
    { ...range, q: cut },
    { ...range, p: cut },
  ];
}

/** The value of a compact cell, which comes with its type. */
function cell(value: Reply | undefined): Reply {
  return listOf(value)[1] ?? null;
}

/** Types of compact cells whose parts have no order: the only list of a row holds labels, and the only map holds properties. */
const [list, map] = [6, 10];

/** A row as text, with its labels and properties in order. */
function ordered(row: readonly Reply[]): string {
  const cells = row.map((value) => {
    const [type, content] = listOf(value);
    const parts = listOf(content);
    if (type === list) return parts.map((part) => JSON.stringify(part)).sort();
    if (type !== map) return value;
    return parts.flatMap((key, at) => (at % 2 === 0 ? [JSON.stringify([key, parts[at + 1]])] : [])).sort();
  });
  return JSON.stringify(cells);
}
