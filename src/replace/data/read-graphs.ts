/** @module Reads graphs whole: the engine may have damaged one so that reading it ends the server. */
import { isDatabaseError } from "../../database/failures.ts";
import { parametersOf } from "./inventory.ts";
import { databasesOf, graphsOf } from "./keys.ts";
import type { Link } from "./link.ts";
import type { Side } from "./nodes.ts";
import { Refused } from "./refusals.ts";

/** Longest time of one query, in ms: a graph that takes longer is not read to its end. */
const longest = 60_000;

/** Reads every property of a graph at the server, and drops the answer. Rejects with a DatabaseError if that ends the server. `timeout` is the longest time that the server allows, in ms. */
export async function readGraph(link: Link, name: Buffer, timeout: number): Promise<void> {
  const ms = String(Math.min(longest, timeout));
  const queries = ["(n)", "()-[n]->()"].map((each) => `MATCH ${each} RETURN count(properties(n))`);
  await link.all(queries.map((query) => ["GRAPH.RO_QUERY", name, query, "timeout", ms]));
}

/** Reads all graphs of a database. Rejects with a Refused that names the graph which ended it. */
export async function readGraphs({ primary }: Side, signal: AbortSignal): Promise<void> {
  const timeout = Number((await parametersOf(primary.control))["TIMEOUT_MAX"]) || longest;
  for (const number of await databasesOf(primary.control)) {
    const link = await primary.open(signal, number);
    for (const name of await graphsOf(link))
      await readGraph(link, name, timeout).catch(refuseEnded(name, () => "database"));
    link.close();
  }
}

/** Names the graph that was read when a server ended, and which one: reading it again may end it again. */
export function refuseEnded(name: Buffer, which: () => string): (error: unknown) => never {
  return (error) => {
    if (!isDatabaseError(error) || error.obstacle !== "cut") throw error;
    throw new Refused("graph-ends-server", `the ${which()} ended while its graph ${name} was read`);
  };
}
