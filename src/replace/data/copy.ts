/** @module Copies every key of every database, with its end, and the libraries and parameters, in bounded memory. */
import type { Command } from "../../database/command-socket.ts";
import { type Job, runWithin } from "../../database/in-flight.ts";
import { setParameters } from "../../database/parameters.ts";
import { type Inventory, librariesOf, parametersToCarry, totalsOf } from "./inventory.ts";
import { batchesOf, databasesOf, dumpsOf, graphType, idOf, isSmall, type Key, keysOf } from "./keys.ts";
import type { Link } from "./link.ts";
import { type Pair, type Side, withPairs } from "./nodes.ts";
import { isOwnCopy, notOwnCopy, setCopyKey } from "./own-copy.ts";
import { largestValue } from "./preflight.ts";
import { type Count, countProgress, type OnProgress } from "./progress.ts";
import { Refused } from "./refusals.ts";

export interface CopyOptions {
  /** Inventory of the source. */
  readonly inventory: Inventory;
  /** Parameters that the target keeps as it has them: those that its manifest sets. */
  readonly keepParameters?: readonly string[];
  /** Bytes of all dumps as a rehearsal measured them, for the estimate of the time that is left. */
  readonly expectedBytes?: number;
  readonly onProgress?: OnProgress;
}

export interface Copied {
  readonly keys: number;
  /** Bytes of all dumps, and of the largest. */
  readonly bytes: number;
  readonly largest: number;
}

/** Pairs of connections for values: one value is dumped while others are sent and restored. */
const pairsAtOnce = 3;
/** Bytes of dumps on their way at once. */
const inFlight = 512_000_000;

/** Copies everything into an emptied target, and marks it as a copy. The signal should include `Freeze.lost`. Rejects with a Refused, a DatabaseError or the reason of the signal. */
export async function copy(
  source: Side,
  target: Side,
  options: CopyOptions,
  signal: AbortSignal,
): Promise<Copied> {
  const { inventory, keepParameters = [], expectedBytes = 0 } = options;
  const sums = { keys: 0, bytes: 0, largest: 0 };
  const total = { keys: totalsOf(inventory).keys, amount: expectedBytes };
  const graphs = new Set<string>();
  const count = countProgress(total, options.onProgress);
  await emptyTarget(target);
  await target.primary.control.one(setCopyKey);
  await carrySettings(source, target, keepParameters, signal);
  for (const database of await databasesOf(source.primary.control)) {
    const task = { database, inventory, sums, count, graphs };
    await withPairs([source, target], database, pairsAtOnce, signal, (listing, pairs) =>
      runWithin(jobsOf(listing.source, task), pairs, inFlight),
    );
  }
  return sums;
}

/** Loads the libraries of the source, and sets its parameters, at the target. Called again it does the same. */
async function carrySettings(
  source: Side,
  target: Side,
  keep: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { control } = target.primary;
  for (const { name, code } of await librariesOf(source.primary.control))
    await control.one(["GRAPH.UDF", "LOAD", "REPLACE", name, code]);
  const wanted = await parametersToCarry(source, target, keep);
  if (Object.keys(wanted).length > 0) await setParameters(target.primary.target, wanted, signal);
}

interface Task {
  readonly database: number;
  readonly inventory: Inventory;
  readonly sums: { keys: number; bytes: number; largest: number };
  readonly count: Count;
  /** Graphs of all databases that were begun. */
  readonly graphs: Set<string>;
}

/** Each graph and each large value is a job of its own; small values go together. */
async function* jobsOf(listing: Link, task: Task): AsyncGenerator<Job<Pair>> {
  const graphs = task.inventory.databases.find(({ number }) => number === task.database)?.graphs ?? [];
  const weights = new Map(graphs.map(({ name, memory = 0 }) => [name, memory]));
  const begun = new Set<string>();
  for await (const page of keysOf(listing)) {
    // SCAN may name a key twice.
    const keys = page.filter((key) => !begun.has(idOf(key)));
    for (const batch of batchesOf(keys)) {
      for (const key of batch) if (!isSmall(key)) begun.add(idOf(key));
      for (const key of batch.filter(({ type }) => type === graphType)) {
        const name = String(key.name);
        // RESTORE of a second graph of the same name ends the server, also in another database.
        if (task.graphs.has(name)) throw new Refused("graph-name-twice", `two databases have graph ${name}`);
        task.graphs.add(name);
      }
      const heavy = (key: Key): number => Math.max(key.memory, weights.get(String(key.name)) ?? 0);
      const weight = batch.reduce((sum, key) => sum + heavy(key), 0);
      yield { weight, run: (pair) => copyKeys(pair, batch, task) };
    }
  }
}

async function copyKeys({ source, target }: Pair, keys: readonly Key[], task: Task): Promise<void> {
  const { database, count, sums } = task;
  const dumps = await dumpsOf(source, keys);
  const commands: Command[] = [];
  let bytes = 0;
  keys.forEach(({ name, type, end }, at) => {
    const dump = dumps[at] ?? null;
    const key = `key ${name} of database ${database}`;
    if (dump instanceof Error)
      throw new Refused("key-not-readable", `${key} cannot be dumped: ${dump.message}`);
    // Its end came before it was copied.
    if (!Buffer.isBuffer(dump)) return;
    const size = `${key} has a dump of ${dump.length} bytes; the limit is ${largestValue}`;
    if (dump.length > largestValue) throw new Refused("value-too-large", size);
    // RESTORE REPLACE of a graph that is read ends the server.
    const replace = type === graphType ? [] : ["REPLACE"];
    commands.push(["RESTORE", name, String(end), dump, ...replace, "ABSTTL"]);
    bytes += dump.length;
    sums.largest = Math.max(sums.largest, dump.length);
  });
  for (const [at, reply] of (await target.all(commands)).entries())
    if (reply instanceof Error)
      throw new Refused("copy-refused", `key ${commands[at]?.[1]} of database ${database}: ${reply.message}`);
  sums.keys += commands.length;
  sums.bytes += bytes;
  count(keys.length, bytes);
}

/** Deletes every key and library of the target, never what others may have written. */
export async function emptyTarget(target: Side): Promise<void> {
  const { control, target: at } = target.primary;
  if (!(await isOwnCopy(target))) throw notOwnCopy(`at ${at.host}:${at.port}`, "the old one");
  await control.one(["FLUSHALL"]);
  const [flushed] = await control.all([["GRAPH.UDF", "FLUSH"]]);
  if (flushed instanceof Error && !/unknown command/i.test(flushed.message)) throw flushed;
}
