/** @module Reads replies: lists, pairs, rows of queries, clients. */
import type { Reply } from "./command-socket.ts";

/** A list, or none if the reply is something else. */
export function listOf(reply: Reply | undefined): readonly Reply[] {
  return Array.isArray(reply) ? reply : [];
}

/** The rows of a query; the reply also has a header and statistics. */
export function rowsOf(reply: Reply | undefined): readonly (readonly Reply[])[] {
  const parts = listOf(reply);
  return parts.length < 3 ? [] : listOf(parts[1]).map(listOf);
}

/** A flat list of names and values, as RESP 2 sends maps. */
export function pairsOf(reply: Reply | undefined): ReadonlyMap<string, Reply> {
  const list = listOf(reply);
  const pairs = new Map<string, Reply>();
  for (let at = 0; at + 1 < list.length; at += 2) pairs.set(String(list[at]), list[at + 1] ?? null);
  return pairs;
}

/** One connection of a server, by the names of CLIENT LIST. */
export type ListedClient = { readonly [field in "id" | "flags" | "cmd" | "tot-cmds"]?: string };

/** The connections in a reply of CLIENT LIST. */
export function clientsIn(list: string): readonly ListedClient[] {
  return list
    .split("\n")
    .map((line) => Object.fromEntries(line.split(" ").map((field) => field.split("=", 2))));
}
