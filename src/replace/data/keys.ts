/** @module Walks over the keys of one database, and reads what every key has: type, end and size. */
import type { Reply } from "../../database/command-socket.ts";
import { linesIn } from "../../database/parameters.ts";
import { listOf } from "../../database/replies.ts";
import type { Link } from "./link.ts";

/** A key; its name may be any bytes. */
export interface Key {
  readonly name: Buffer;
  /** The type, as TYPE answers it. */
  readonly type: string;
  /** Time of its end in ms of the server's clock; 0 without one. */
  readonly end: number;
  /** Memory in bytes; of a graph it says nothing. */
  readonly memory: number;
}

/** Type of the keys that are graphs. */
export const graphType = "graphdata";

/** All keys, some hundred at a time; one may come twice. Streams of telemetry whose graphs exist are left out. */
export async function* keysOf(link: Link): AsyncGenerator<readonly Key[]> {
  for await (const names of scan(link, "COUNT", "500")) yield (await factsOf(link, names)).keys;
}

/** The names of all graphs of one database; one may come twice. GRAPH.LIST would lack graphs after a crash. */
export async function graphsOf(link: Link): Promise<readonly Buffer[]> {
  const graphs: Buffer[] = [];
  for await (const names of scan(link, "COUNT", "10000", "TYPE", graphType)) graphs.push(...names);
  return graphs;
}

async function* scan(link: Link, ...options: readonly string[]): AsyncGenerator<readonly Buffer[]> {
  let cursor = "0";
  do {
    const page = listOf(await link.one(["SCAN", cursor, ...options], { binary: true }));
    cursor = String(page[0]);
    yield listOf(page[1]).filter((name) => Buffer.isBuffer(name));
  } while (cursor !== "0");
}

/** The facts of those keys that exist, in their order, at one moment of the server's clock, in ms. */
export async function factsOf(
  link: Link,
  names: readonly Buffer[],
): Promise<{ readonly keys: readonly Key[]; readonly now: number }> {
  const facts = await link.all([
    ...names.flatMap((name) => [
      ["TYPE", name],
      ["PTTL", name],
      ["MEMORY", "USAGE", name],
    ]),
    ["INFO", "server"],
  ]);
  const now = Number(linesIn(facts.at(-1) ?? null)["server_time_usec"]) / 1000;
  const streams = names.filter((_, at) => facts[3 * at] === "stream");
  const telemetry = await telemetryAmong(streams, link);
  const keys = names.flatMap((name, at): Key[] => {
    const [type, time, memory] = facts.slice(3 * at);
    // The engine makes keys of the type graphmeta while it saves.
    if (type === "none" || type === "graphmeta" || telemetry.has(name)) return [];
    for (const fact of [type, time]) if (fact instanceof Error) throw fact;
    // The users of some services may not ask for the end itself.
    const end = Number(time) < 0 ? 0 : Math.round(now + Number(time));
    return [{ name, type: String(type), end, memory: Number(memory) || 0 }];
  });
  return { keys, now };
}

/** The engine fills a stream for each graph of any database, all in database 0, and deletes it with the graph. */
async function telemetryAmong(streams: readonly Buffer[], link: Link): Promise<ReadonlySet<Buffer>> {
  const named = streams.filter((name) => /^telemetry\{.*\}$/s.test(name.toString("latin1")));
  if (named.length === 0 || link.database !== 0) return new Set();
  const types = named.map((name) => ["TYPE", name.subarray("telemetry{".length, -1)]);
  const found = new Set<Buffer>();
  for (const number of await databasesOf(link)) {
    // One batch: nothing else may be sent over this connection while another database is selected.
    const [, ...replies] = await link.all([["SELECT", String(number)], ...types, ["SELECT", "0"]]);
    for (const [at, name] of named.entries()) if (replies[at] === graphType) found.add(name);
  }
  return found;
}

/** The dumps of keys in their order; one that has ended has null, and one that cannot be dumped an Error. */
export function dumpsOf(link: Link, keys: readonly Key[]): Promise<readonly Reply[]> {
  const command = ({ name }: Key) => ["DUMP", name];
  return link.all(keys.map(command), { binary: true });
}

/** A name as text that tells any two apart. */
export function idOf({ name }: Pick<Key, "name">): string {
  return name.toString("latin1");
}

/** True for keys that are copied and compared many at once; every other one alone. */
export function isSmall({ type, memory }: Key): boolean {
  return type !== graphType && memory <= 16_384;
}

/** Keys by the work that they are. */
export function batchesOf(keys: readonly Key[]): readonly (readonly Key[])[] {
  const small = keys.filter(isSmall);
  const large = keys.filter((key) => !isSmall(key)).map((key) => [key]);
  return small.length === 0 ? large : [small, ...large];
}

/** The numbers of the databases that have keys. */
export async function databasesOf(control: Link): Promise<readonly number[]> {
  const lines = Object.keys(linesIn(await control.one(["INFO", "keyspace"])));
  return lines.filter((line) => /^db\d+$/.test(line)).map((line) => Number(line.slice(2)));
}
