/** @module Reads and sets the settings of a running database, and verifies a login. */
import { defined } from "../model/json.ts";
import type { DatabaseLogin } from "../model/kind.ts";
import { askAtOnce, talk } from "./connection.ts";
import { type DatabaseFailure, isDatabaseError, isNotReady } from "./failures.ts";

/** Settings of a database, without those that the user may not read or the engine does not know. */
export interface DatabaseSettings {
  readonly parameters: { readonly [name: string]: number | string };
  /** Lines of INFO, by name. */
  readonly info: { readonly [line: string]: string };
  /** Version of the graph module, for example 4.16.3. */
  readonly engine?: string;
  readonly denied: readonly string[];
}

const questions = [
  ["GRAPH.CONFIG", "GET", "*"],
  ["INFO", "server", "memory", "persistence", "replication"],
  ["MODULE", "LIST"],
] as const;

/** Asks for all settings at once. Rejects with a DatabaseError, or with the reason of the signal. */
export async function probe(target: DatabaseLogin, signal: AbortSignal): Promise<DatabaseSettings> {
  const replies = await askAtOnce(target, questions, signal);
  const [parameters, info, modules] = replies;
  const denied = questions.flatMap(([command], at) => {
    const reply = replies[at];
    return reply instanceof Error && reply.message.startsWith("NOPERM") ? [command] : [];
  });
  const engine = versionIn(modules);
  return { parameters: pairsIn(parameters), info: linesIn(info), denied, ...defined({ engine }) };
}

/** Signs in and out. Rejects as `probe`. */
export async function signIn(target: DatabaseLogin, signal: AbortSignal): Promise<void> {
  await askAtOnce(target, [], signal);
}

/** GRAPH.CONFIG GET * answers with pairs of name and value. */
export function pairsIn(reply: unknown): DatabaseSettings["parameters"] {
  const pairs = (Array.isArray(reply) ? reply : []).flatMap((pair): [string, number | string][] => {
    const [name, value] = Array.isArray(pair) ? pair : [];
    const isPlain = typeof value === "number" || typeof value === "string";
    return typeof name === "string" && isPlain ? [[name, value]] : [];
  });
  return Object.fromEntries(pairs);
}

export function linesIn(reply: unknown): DatabaseSettings["info"] {
  if (typeof reply !== "string") return {};
  const lines = reply.split(/\r?\n/).flatMap((line): [string, string][] => {
    const colon = line.indexOf(":");
    return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
  });
  return Object.fromEntries(lines);
}

/** `ver` of the graph module: 41603 is 4.16.3. */
export function versionIn(reply: unknown): string | undefined {
  for (const module of Array.isArray(reply) ? reply : []) {
    const facts: readonly unknown[] = Array.isArray(module) ? module : [];
    const [name, version] = [facts[facts.indexOf("name") + 1], facts[facts.indexOf("ver") + 1]];
    if (name === "graph" && typeof version === "number")
      return [Math.floor(version / 10_000), Math.floor(version / 100) % 100, version % 100].join(".");
  }
  return undefined;
}

/**
 * Sets parameters by GRAPH.CONFIG SET until the next restart, all in one command if the engine allows that. Called again it does the same.
 * Rejects with the refusal, with a DatabaseError, or with the reason of the signal.
 */
export async function setParameters(
  target: DatabaseLogin,
  wanted: { readonly [parameter: string]: number | string },
  signal: AbortSignal,
): Promise<void> {
  const limits = ["TIMEOUT_MAX", "TIMEOUT_DEFAULT"];
  await talk(target, signal, async (ask) => {
    const replies = await ask(limits.map((name) => ["GRAPH.CONFIG", "GET", name]));
    const [TIMEOUT_MAX = 0, TIMEOUT_DEFAULT = 0] = replies.map((reply) => {
      if (reply instanceof Error) throw reply;
      return Array.isArray(reply) ? Number(reply[1]) : 0;
    });
    for (const settings of orderedSets(wanted, { TIMEOUT_MAX, TIMEOUT_DEFAULT })) {
      const [reply] = await ask([["GRAPH.CONFIG", "SET", ...settings.flat().map(String)]]);
      if (reply instanceof Error) throw reply;
    }
  });
}

type Setting = readonly [parameter: string, value: number | string];

/** The time limits of a database now; 0 means no limit. */
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

/** Result of one PING. `unreachable` covers a database that is still loading. */
export type PingResult = "answered" | DatabaseFailure | "not-trusted";

/** One PING as the user of the target, within its timeout. Rejects with the reason of the signal, and with nothing else. */
export async function ping(target: DatabaseLogin, signal: AbortSignal): Promise<PingResult> {
  try {
    // A PING that follows a refused login would be refused too, and logged.
    const [reply] = await talk(target, signal, async (ask) => {
      await ask([]);
      return ask([["PING"]]);
    });
    return reply instanceof Error ? pingResultOf(reply) : "answered";
  } catch (error) {
    if (signal.aborted) throw error;
    if (!isDatabaseError(error)) return "unreachable";
    return error.obstacle === "not-trusted" ? "not-trusted" : error.failure;
  }
}

/** A user without the right to PING has signed in nevertheless. */
function pingResultOf(reply: Error): PingResult {
  if (/^(NOAUTH|WRONGPASS)/.test(reply.message)) return "refused-credentials";
  return isNotReady(reply) ? "unreachable" : "answered";
}
