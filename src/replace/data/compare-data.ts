/** @module Compares two databases: counts, schema, every node and edge, other keys, ends, libraries and parameters. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CopyOptions } from "./copy.ts";
import { type Comparison, compareRows } from "./graph-rows.ts";
import {
  graphOf,
  isUnready,
  librariesOf,
  parametersOf,
  parametersToCarry,
  type SchemaRow,
  type StoredGraph,
  totalsOf,
} from "./inventory.ts";
import { batchesOf, databasesOf, dumpsOf, factsOf, graphType, idOf, type Key, keysOf } from "./keys.ts";
import { askBoth, type Pair, type Side, withPairs } from "./nodes.ts";
import { copyKey } from "./own-copy.ts";
import { countProgress } from "./progress.ts";
import { readGraph, refuseEnded } from "./read-graphs.ts";
import { isSameValue } from "./stored-values.ts";

/** Ends may differ by this, in ms: clocks of two machines, and ends that were computed. */
const clockError = 2000;
/** Longest time in ms until the indexes of a restored graph are operational. */
const indexTime = 120_000;
/** Longest list of differences. */
const most = 20;

/** Reads both sides at once. One sentence for each difference; a key whose end has come meanwhile is none. Rejects as `copy`. */
export async function compareData(
  source: Side,
  target: Side,
  { inventory, keepParameters = [], onProgress }: CopyOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const differences: string[] = [];
  const { keys, nodes, edges } = totalsOf(inventory);
  const differ = (message: string): void => {
    if (differences.length < most) differences.push(message);
  };
  const sides = [source, target] as const;
  const settings = await askBoth(sides, parametersOf);
  const smallest = (name: string, none: number): number =>
    Math.min(none, ...settings.map((values) => Number(values[name])).filter((value) => value > 0));
  const comparison: Comparison = {
    differ,
    signal,
    count: countProgress({ keys, amount: nodes + edges }, onProgress),
    resultSize: smallest("RESULTSET_SIZE", Number.POSITIVE_INFINITY),
    timeout: smallest("TIMEOUT_MAX", 600_000),
  };
  const [theirs, ours] = (await askBoth(sides, librariesOf)).map((libraries) => JSON.stringify(libraries));
  if (theirs !== ours) differ("the libraries of functions are not the same");
  for (const [name, value] of Object.entries(await parametersToCarry(source, target, keepParameters)))
    differ(`${name} is ${value} only in the old database`);
  for (const database of new Set((await askBoth(sides, databasesOf)).flat()))
    await withPairs(sides, database, 2, signal, async (listing, values) => {
      for (const graph of await compareKeys(listing, values[0], database, comparison)) {
        await compareGraph(values, graph, comparison).catch(
          refuseEnded(
            graph.name,
            () => `${values.some(({ source }) => !source.isOpen) ? "old" : "new"} database`,
          ),
        );
        comparison.count(1, 0);
      }
    });
  return differences;
}

/** Compares all keys but the contents of graphs, which it returns. */
async function compareKeys(
  listing: Pair,
  values: Pair,
  database: number,
  comparison: Comparison,
): Promise<readonly Key[]> {
  const graphs = new Map<string, Key>();
  const seen = new Set<string>();
  for await (const page of keysOf(listing.source)) {
    const keys = page.filter((key) => !seen.has(idOf(key)));
    for (const key of keys) seen.add(idOf(key));
    const names = keys.map(({ name }) => name);
    const there = await factsOf(values.target, names);
    const copies = new Map(there.keys.map((key) => [idOf(key), key]));
    const both = keys.filter((key) => isAlike(key, copies.get(idOf(key)), there.now, database, comparison));
    const found = both.filter(({ type }) => type === graphType);
    for (const key of found) graphs.set(idOf(key), key);
    for (const batch of batchesOf(both.filter(({ type }) => type !== graphType)))
      await compareValues(values, batch, database, comparison);
    comparison.count(keys.length - found.length, 0);
  }
  for await (const page of keysOf(listing.target)) {
    const added = page.filter((key) => !seen.has(idOf(key)) && idOf(key) !== copyKey);
    for (const { name } of added)
      comparison.differ(`key ${name} of database ${database} exists only in the new database`);
  }
  return [...graphs.values()];
}

/** True if the key exists on both sides. A key whose end has come may be gone on either. */
function isAlike(
  key: Key,
  copied: Key | undefined,
  now: number,
  database: number,
  { differ }: Comparison,
): copied is Key {
  const title = `key ${key.name} of database ${database}`;
  if (copied === undefined) {
    if (key.end === 0 || key.end > now + clockError) differ(`${title} is missing in the new database`);
    return false;
  }
  if (key.type !== copied.type) {
    differ(`${title} is of the type ${copied.type} instead of ${key.type}`);
    return false;
  }
  if ((key.end === 0) !== (copied.end === 0) || Math.abs(key.end - copied.end) > clockError)
    differ(`${title} ends at another time`);
  return true;
}

async function compareValues(
  pair: Pair,
  keys: readonly Key[],
  database: number,
  { differ }: Comparison,
): Promise<void> {
  const [old, copied] = await Promise.all([dumpsOf(pair.source, keys), dumpsOf(pair.target, keys)]);
  keys.forEach(({ name, end }, at) => {
    const [before, after] = [old[at], copied[at]];
    for (const reply of [before, after]) if (reply instanceof Error) throw reply;
    const isSame = Buffer.isBuffer(before) && Buffer.isBuffer(after) && isSameValue(before, after);
    const hasEnded = end > 0 && (before === null || after === null);
    if (!isSame && !hasEnded) differ(`key ${name} of database ${database} has another value`);
  });
}

async function compareGraph(
  pairs: readonly [Pair, ...Pair[]],
  { name, end }: Key,
  comparison: Comparison,
): Promise<void> {
  const [pair] = pairs;
  const { differ, signal, timeout } = comparison;
  // A damaged graph ends the server that reads it: the copy has the same damage, and is read before the live one.
  await readGraph(pair.target, name, timeout);
  const [old, copied] = await Promise.all([graphOf(pair.source, name), operational(pair, name, signal)]);
  // Its end came meanwhile: nothing else ends it at a source whose writes wait.
  const hasEnded = (...[there, copy]: readonly (StoredGraph | undefined)[]): boolean =>
    there === undefined || (copy === undefined && end > 0);
  if (hasEnded(old, copied)) return;
  if (old === undefined || copied === undefined)
    return differ(`graph ${name} is missing in the new database`);
  for (const part of ["indexes", "constraints"] as const)
    compareSchema(old[part], copied[part], (message) => differ(`graph ${name}: ${message}`));
  const counts = { node: 0, edge: 0 };
  try {
    await compareRows(pairs, { ...comparison, name, counts });
  } catch (error) {
    const now = await Promise.all([pair.source, pair.target].map((link) => graphOf(link, name)));
    if (hasEnded(...now)) return;
    throw error;
  }
  const expected = [old, copied].map(({ nodes, edges }) => `${nodes} nodes and ${edges} edges`);
  const found = `${counts.node} nodes and ${counts.edge} edges`;
  if (expected.some((total) => total !== found))
    differ(`graph ${name} has ${expected.join(", and in the new database ")}; ${found} were compared`);
}

/** The copied graph, once its indexes are operational: the engine builds them anew. */
async function operational(
  { target }: Pair,
  name: Buffer,
  signal: AbortSignal,
): Promise<StoredGraph | undefined> {
  const end = performance.now() + indexTime;
  for (;;) {
    const graph = await graphOf(target, name);
    const schema = graph === undefined ? [] : [...graph.indexes, ...graph.constraints];
    if (!schema.some(isUnready) || performance.now() > end) return graph;
    await sleep(50, undefined, { signal });
  }
}

function compareSchema(
  old: readonly SchemaRow[],
  copied: readonly SchemaRow[],
  differ: (message: string) => void,
): void {
  const compare = (from: readonly SchemaRow[], to: readonly SchemaRow[], name: string): void => {
    const there = new Set(to.filter((row) => !isUnready(row)).map((row) => row.definition));
    for (const { title, definition } of from)
      if (!there.has(definition)) differ(`the ${name} database lacks the ${title}, or it is not operational`);
  };
  compare(old, copied, "new");
  compare(copied, old, "old");
}
