/** @module Reads manifests that are JSON, as programs write them: values at once, nodes only as far as a position is asked for. */
import { Pair, type ParsedNode, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { isObject, type Json, type JsonObject, objectIn } from "../model/json.ts";
import { perObject } from "../model/per-object.ts";
import { deepest, reservedKeys } from "./plain-value.ts";

/** The map that a text of JSON spells. Undefined for every other text, and for one with a fault: JSON is YAML, whose reader says which. */
export function jsonMap(text: string): JsonObject | undefined {
  const start = text.search(/\S/);
  const value = text[start] === "{" ? objectIn(text) : undefined;
  // Of keys that stand twice `JSON.parse` keeps the last one.
  return value !== undefined && keysIn(value, deepest) === extentOf(text, start).keys ? value : undefined;
}

const refusedKeys: ReadonlySet<string> = new Set([...reservedKeys, "__proto__", "<<"]);

/** The number of keys in a value; NaN if it has a key or a number that is refused, or is too deep. */
function keysIn(value: Json, room: number): number {
  if (typeof value === "number") return Number.isFinite(value) ? 0 : Number.NaN;
  if (typeof value !== "object" || value === null) return 0;
  if (room === 0) return Number.NaN;
  let count = 0;
  if (isObject(value))
    for (const key of Object.keys(value)) {
      // `JSON.parse` of V8 misreads the key "\"" if it has read the key "\\" before.
      if (refusedKeys.has(key) || key.includes("\\")) return Number.NaN;
      count += 1 + keysIn(value[key] ?? null, room - 1);
    }
  else for (const item of value) count += keysIn(item, room - 1);
  return count;
}

const [quote, comma, colon, backslash, opening, closing] = [0x22, 0x2c, 0x3a, 0x5c, 0x7b, 0x7d];

/** The offset behind the value that begins at another one in valid JSON, and the number of keys in it. */
function extentOf(text: string, start: number): { readonly end: number; readonly keys: number } {
  let [depth, keys, isQuoted, at] = [0, 0, false, start];
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) isQuoted = !isQuoted;
    else if (code === backslash) at += 1;
    else if (isQuoted) continue;
    else if (depth === 0 && (code <= 0x20 || code === comma || code === colon)) break;
    else if (code === colon) keys += 1;
    // Square brackets and braces differ in this bit alone.
    else if ((code | 0x20) === opening) depth += 1;
    else if ((code | 0x20) === closing) depth -= 1;
    if (depth < 0) break;
  }
  return { end: at, keys };
}

/** The nodes of valid JSON as the parser of YAML makes them. What is in a map or list is read when it is asked for. */
export function jsonNodes(text: string, start: number = text.search(/\S/)): ParsedNode {
  const { end } = extentOf(text, start);
  const range = [start, end, end];
  const source = text.slice(start, end);
  if (source.startsWith("{"))
    return placed(new YAMLMap(), { range, flow: true }, () =>
      nodesIn(text, start).flatMap((key, at, all) => (at % 2 === 0 ? [new Pair(key, all[at + 1])] : [])),
    );
  if (source.startsWith("[")) return placed(new YAMLSeq(), { range, flow: true }, () => nodesIn(text, start));
  const type = source.startsWith('"') ? Scalar.QUOTE_DOUBLE : Scalar.PLAIN;
  return placed(new Scalar(JSON.parse(source)), { range, source, type });
}

/** A node with its place, and with items that are read later. The types of yaml know only nodes of its own parser. */
function placed(node: Scalar | YAMLMap | YAMLSeq, place: object, read?: () => object[]): ParsedNode;
function placed(node: object, place: object, read?: () => object[]): object {
  if (read === undefined) return Object.assign(node, place);
  const get = perObject(read);
  return Object.assign(Object.defineProperty(node, "items", { get: () => get(node) }), place);
}

/** The nodes of the map or list that begins at an offset: of a map keys and values in turn. */
function nodesIn(text: string, start: number): ParsedNode[] {
  const nodes: ParsedNode[] = [];
  for (let at = start + 1; ; ) {
    while (/[\s,:]/.test(text.charAt(at))) at += 1;
    if (/[\]}]/.test(text.charAt(at))) return nodes;
    const node = jsonNodes(text, at);
    nodes.push(node);
    at = node.range[1];
  }
}
