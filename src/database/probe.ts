/** @module Reads the settings of a running database over one connection. */
import { defined } from "../model/json.ts";
import { askAtOnce } from "./ask-at-once.ts";
import type { DatabaseTarget } from "./target.ts";

/** Settings of a database. What the user may not read, or the engine does not know, is missing. */
export interface DatabaseSettings {
  /** Parameters of the graph module, by name. */
  readonly parameters: { readonly [name: string]: number | string };
  /** Lines of INFO, by name. */
  readonly info: { readonly [line: string]: string };
  /** Version of the graph module, for example 4.16.3. */
  readonly engine?: string;
  /** Commands that the user may not run. */
  readonly denied: readonly string[];
}

const questions = [
  ["GRAPH.CONFIG", "GET", "*"],
  ["INFO", "server", "memory", "persistence", "replication"],
  ["MODULE", "LIST"],
] as const;

/** Asks for all settings at once. Rejects with a DatabaseError, or with the reason of the signal. */
export async function probe(target: DatabaseTarget, signal: AbortSignal): Promise<DatabaseSettings> {
  const replies = await askAtOnce(target, questions, signal);
  const [parameters, info, modules] = replies;
  const denied = questions.flatMap(([command], at) => {
    const reply = replies[at];
    return reply instanceof Error && reply.message.startsWith("NOPERM") ? [command] : [];
  });
  const engine = versionIn(modules);
  return {
    parameters: pairsIn(parameters),
    info: linesIn(info),
    denied,
    ...defined({ engine }),
  };
}

/** Signs in and out. Rejects as `probe`. */
export async function signIn(target: DatabaseTarget, signal: AbortSignal): Promise<void> {
  await askAtOnce(target, [], signal);
}

/** GRAPH.CONFIG GET * answers with pairs of name and value. */
function pairsIn(reply: unknown): DatabaseSettings["parameters"] {
  const pairs = (Array.isArray(reply) ? reply : []).flatMap((pair): [string, number | string][] => {
    const [name, value] = Array.isArray(pair) ? pair : [];
    const isPlain = typeof value === "number" || typeof value === "string";
    return typeof name === "string" && isPlain ? [[name, value]] : [];
  });
  return Object.fromEntries(pairs);
}

function linesIn(reply: unknown): DatabaseSettings["info"] {
  if (typeof reply !== "string") return {};
  const lines = reply.split(/\r?\n/).flatMap((line): [string, string][] => {
    const colon = line.indexOf(":");
    return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
  });
  return Object.fromEntries(lines);
}

/** `ver` of the graph module: 41603 is 4.16.3. */
function versionIn(reply: unknown): string | undefined {
  for (const module of Array.isArray(reply) ? reply : []) {
    const facts: readonly unknown[] = Array.isArray(module) ? module : [];
    const [name, version] = [facts[facts.indexOf("name") + 1], facts[facts.indexOf("ver") + 1]];
    if (name === "graph" && typeof version === "number")
      return [Math.floor(version / 10_000), Math.floor(version / 100) % 100, version % 100].join(".");
  }
  return undefined;
}
