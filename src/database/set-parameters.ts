/** @module Sets parameters of the graph module while the database runs, and verifies them. They are lost at its next restart. */
import { type Database, isRefusal, openDatabase } from "./connect.ts";
import { type DatabaseFailure, isDatabaseError } from "./database-error.ts";
import { isNotReady } from "./failures.ts";
import type { DatabaseTarget } from "./target.ts";

/**
 * Sets parameters by GRAPH.CONFIG SET, all in one command where the engine allows that. Called again it does the same.
 * Rejects with the refusal, with a DatabaseError, or with the reason of the signal.
 */
export async function setParameters(
  target: DatabaseTarget,
  wanted: { readonly [parameter: string]: number | string },
  signal: AbortSignal,
): Promise<void> {
  const database = await openDatabase(target, signal);
  try {
    for (const command of orderedSets(wanted, await timeoutsOf(database)))
      await database.ask(["GRAPH.CONFIG", "SET", ...command.flat().map(String)]);
  } finally {
    database.close();
  }
}

type Setting = readonly [parameter: string, value: number | string];

/** The time limits of a database now; 0 is no limit. */
export interface Timeouts {
  readonly TIMEOUT_MAX: number;
  readonly TIMEOUT_DEFAULT: number;
}

/**
 * The commands that set parameters, in their order. The engine checks each value of a command against those that were in
 * force before it: a default above the old maximum, and a maximum below the old default, need a command before them.
 */
export function orderedSets(
  wanted: { readonly [parameter: string]: number | string },
  now: Timeouts,
): readonly (readonly Setting[])[] {
  const all = Object.entries(wanted).sort(([a], [b]) => (a < b ? -1 : 1));
  const { TIMEOUT_MAX: maximum, TIMEOUT_DEFAULT: preset } = wanted;
  if (maximum === undefined || preset === undefined) return [all];
  const isRaised = now.TIMEOUT_MAX !== 0 && Number(preset) > now.TIMEOUT_MAX;
  const isLowered = Number(maximum) !== 0 && Number(maximum) < now.TIMEOUT_DEFAULT;
  const first = isRaised ? "TIMEOUT_MAX" : isLowered ? "TIMEOUT_DEFAULT" : undefined;
  if (first === undefined) return [all];
  return [all.filter(([name]) => name === first), all.filter(([name]) => name !== first)];
}

async function timeoutsOf(database: Database): Promise<Timeouts> {
  const read = async (name: keyof Timeouts): Promise<number> => {
    const reply = await database.ask(["GRAPH.CONFIG", "GET", name]);
    return Array.isArray(reply) ? Number(reply[1]) : 0;
  };
  const [maximum, preset] = await Promise.all([read("TIMEOUT_MAX"), read("TIMEOUT_DEFAULT")]);
  return { TIMEOUT_MAX: maximum, TIMEOUT_DEFAULT: preset };
}

/** Result of one PING. `unreachable` covers a database that is still loading. */
export type Verdict = "answered" | DatabaseFailure;

/** One PING as the user of the target, within its timeout. Rejects with the reason of the signal, and with nothing else. */
export async function verify(target: DatabaseTarget, signal: AbortSignal): Promise<Verdict> {
  try {
    const database = await openDatabase(target, signal);
    try {
      await database.ask(["PING"]);
      return "answered";
    } finally {
      database.close();
    }
  } catch (error) {
    if (signal.aborted) throw error;
    if (isRefusal(error)) return verdictOf(error);
    return isDatabaseError(error) ? error.failure : "unreachable";
  }
}

/** A user who may not PING was let in all the same. */
function verdictOf(reply: Error): Verdict {
  if (/^(NOAUTH|WRONGPASS)/.test(reply.message)) return "refused-credentials";
  return isNotReady(reply) ? "unreachable" : "answered";
}
