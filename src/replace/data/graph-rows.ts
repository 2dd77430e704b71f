/** @module Compares every node and every edge of a graph on two sides, in ranges of their ids. */
import { isDeepStrictEqual } from "node:util";
import type { Command, Reply } from "../../database/command-socket.ts";
import { type Job, runWithin } from "../../database/in-flight.ts";
import { listOf, rowsOf } from "../../database/replies.ts";
import type { Pair } from "./nodes.ts";
import type { Count } from "./progress.ts";

/** Rows of one range. */
const most = 10_000;

/** Nodes from id `a` to before `b`; edges that start there, with ids from `p` to before `q`. */
interface Range {
  readonly what: "node" | "edge";
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

/** A comparison of two databases. */
export interface Comparison {
  /** Reports keys and rows that were compared. */
  readonly count: Count;
  /** RESULTSET_SIZE of both sides, whichever is smaller: an answer of that many rows may have been cut. */
  readonly resultSize: number;
  /** Longest time that both sides allow a query, in ms; their default may be short. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  differ(message: string): void;
}

interface GraphTask extends Comparison {
  readonly name: Buffer;
  /** Rows that were read of the source. */
  readonly counts: { node: number; edge: number };
}

/** Compares ids, labels and properties of all nodes, and ids, types, ends and properties of all edges. Rejects with the Error of a side that cannot read its graph. */
export async function compareRows(pairs: readonly Pair[], task: GraphTask): Promise<void> {
  const links = pairs.slice(0, 1).flatMap(({ source, target }) => [source, target]);
  const end = async (query: string): Promise<number> => {
    const replies = await Promise.all(links.map((link) => link.one(queryOf(task, query))));
    return Math.max(-1, ...replies.map((reply) => Number(rowsOf(reply)[0]?.[0] ?? -1))) + 1;
  };
  const nodes = await end("MATCH (n) RETURN max(id(n))");
  const edges = await end("MATCH ()-[e]->() RETURN max(id(e))");
  const limit = Math.max(1, Math.min(most, task.resultSize - 1));
  const step = {
    node: limit,
    edge: Math.max(1, Math.min(limit, Math.floor((limit * nodes) / (2 * edges + 1)))),
  };
  const jobs = async function* (): AsyncGenerator<Job<Pair>> {
    for (const what of ["node", "edge"] as const)
      for (let a = 0; a < (what === "edge" && edges === 0 ? 0 : nodes); a += step[what]) {
        const range = { what, a, b: Math.min(nodes, a + step[what]), p: 0, q: edges };
        yield { weight: 1, run: (worker) => compareRange(worker, range, limit, task) };
      }
  };
  await runWithin(jobs(), pairs, pairs.length);
}

function queryOf({ name, timeout }: GraphTask, query: string): Command {
  return ["GRAPH.RO_QUERY", name, query, "timeout", String(timeout)];
}

async function compareRange(pair: Pair, range: Range, limit: number, task: GraphTask): Promise<void> {
  const { what, a, b, p, q } = range;
  const query = `CYPHER a=${a} b=${b} p=${p} q=${q} ${queries[what]} LIMIT ${limit + 1}`;
  const replies = await Promise.all(
    [pair.source, pair.target].map(async (link) => {
      const [reply = null] = await link.all([[...queryOf(task, query), "--compact"]]);
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
  task.counts[what] += source.length;
  task.count(0, source.length);
  // Both sides usually list a range in the same order.
  if (isDeepStrictEqual(source, target)) return;
  const [before, after] = [source, target].map(
    (rows) => new Map(rows.map((row) => [String(listOf(row[0])[1]), row])),
  );
  for (const id of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])) {
    const [old, now] = [before?.get(id), after?.get(id)];
    const where = `${what} ${id} of graph ${task.name}`;
    if (old === undefined) task.differ(`${where} exists only in the new database`);
    else if (now === undefined) task.differ(`${where} is missing in the new database`);
    else if (ordered(old) !== ordered(now)) task.differ(`${where} is not the same`);
  }
}

/** Nodes are halved first, then the edges of one node. */
function halvesOf(range: Range): readonly Range[] {
  const { a, b, p, q } = range;
  const [middle, cut] = [Math.ceil((a + b) / 2), Math.ceil((p + q) / 2)];
  const parts = b - a > 1 ? [{ b: middle }, { a: middle }] : [{ q: cut }, { p: cut }];
  return parts.map((part) => ({ ...range, ...part }));
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
