/** @module Reads the settings of a running database. */
import { type Database, isRefusal, openDatabase } from "./connect.ts";
import type { DatabaseTarget } from "./target.ts";

/** Settings by name: GRAPH.CONFIG name, and `maxmemory`, `aof_enabled`, `connected_slaves`. */
export type Probed = { readonly [parameter: string]: number | string };

/** Sections of INFO, and the line of each that shows a setting. */
const infoLines: readonly (readonly [section: string, line: string])[] = [
  ["memory", "maxmemory"],
  ["persistence", "aof_enabled"],
  ["replication", "connected_slaves"],
];

/**
 * Asks for each parameter of the graph module, and for what INFO shows. What the user may not read, or the engine does
 * not know, is left out. Rejects with a DatabaseError, or with the reason of the signal.
 */
export async function probe(
  target: DatabaseTarget,
  parameters: readonly string[],
  signal: AbortSignal,
): Promise<Probed> {
  const database = await openDatabase(target, signal);
  try {
    const asked = [
      ...parameters.map(async (name) => [name, await parameterOf(database, name)] as const),
      ...infoLines.map(async ([section, line]) => [line, await infoOf(database, section, line)] as const),
    ];
    const found = new Map<string, number | string>();
    for (const [name, value] of await Promise.all(asked)) if (value !== undefined) found.set(name, value);
    return Object.fromEntries(found);
  } finally {
    database.close();
  }
}

/** GRAPH.CONFIG GET answers with the name and the value. */
async function parameterOf(database: Database, name: string): Promise<number | string | undefined> {
  const reply = await ignoringRefusal(database.ask(["GRAPH.CONFIG", "GET", name]));
  const value: unknown = Array.isArray(reply) ? reply[1] : undefined;
  return typeof value === "number" || typeof value === "string" ? plain(value) : undefined;
}

async function infoOf(
  database: Database,
  section: string,
  line: string,
): Promise<number | string | undefined> {
  const reply = await ignoringRefusal(database.ask(["INFO", section]));
  const found =
    typeof reply === "string"
      ? reply.split(/\r?\n/).find((entry) => entry.startsWith(`${line}:`))
      : undefined;
  return found === undefined ? undefined : plain(found.slice(line.length + 1));
}

async function ignoringRefusal(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

function plain(value: number | string): number | string {
  return typeof value === "string" && /^-?[0-9]{1,15}$/.test(value) ? Number(value) : value;
}
