/** @module Converts the text or the YAML tree of a manifest to plain JSON values. */
import { type Alias, isAlias, isScalar, isSeq, Pair, type ParsedNode, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { isObject, type Json, type JsonObject, objectIn } from "../model/json.ts";
import type { Fault } from "./problems/fault.ts";
import { unresolved } from "./values.ts";

export interface Plain {
  /** Undefined if aliases expand without limit, or the nesting is too deep. */
  readonly value: Json | undefined;
  readonly aliases: ReadonlyMap<ParsedNode, ParsedNode>;
}

/** Deepest nesting of maps and lists; a manifest needs six. */
const deepest = 64;

/** Most values that all aliases together may expand to. */
const aliasedValues = 100_000;

/** Keys that mark sealed secrets and templates inside graphform; a manifest that spells them would forge one. */
export const reservedKeys: ReadonlySet<string> = new Set(["$secret", "$template", "$ref"]);

/** Reports duplicate, merge and reserved keys, numbers that JSON does not have, aliases without end, and nesting that is too deep. */
export function plainValue(root: ParsedNode | null, report: (node: ParsedNode, fault: Fault) => void): Plain {
  const counts = { values: 0, aliased: 0, stopped: false };
  const walk: Walk = { ...counts, anchors: new Map(), aliases: new Map(), report };
  const value = toJson(root, 0, walk);
  return { value: walk.stopped ? undefined : value, aliases: walk.aliases };
}

interface Anchor {
  readonly node: ParsedNode;
  /** Undefined while the anchor's own value is being read. */
  value?: Json;
  values: number;
}

interface Walk {
  readonly anchors: Map<string, Anchor>;
  readonly aliases: Map<ParsedNode, ParsedNode>;
  readonly report: (node: ParsedNode, fault: Fault) => void;
  values: number;
  aliased: number;
  stopped: boolean;
}

function toJson(node: ParsedNode | null | undefined, depth: number, walk: Walk): Json {
  if (node === null || node === undefined || walk.stopped) return null;
  walk.values += 1;
  if (isAlias(node)) return aliasToJson(node, walk);
  const { anchor } = node;
  if (anchor === undefined) return contentToJson(node, depth, walk);
  const entry: Anchor = { node, values: 0 };
  walk.anchors.set(anchor, entry);
  const before = walk.values;
  entry.value = contentToJson(node, depth, walk);
  entry.values = walk.values - before + 1;
  return entry.value;
}

function contentToJson(node: Exclude<ParsedNode, Alias>, depth: number, walk: Walk): Json {
  if (isScalar(node)) {
    const { value } = node;
    if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    const hint = "write a finite number, or put the text in quotes";
    walk.report(node, { code: "bad-number", message: "this number cannot be sent", hint });
    return unresolved;
  }
  if (depth >= deepest) return stop(node, tooDeep, walk);
  if (isSeq<ParsedNode>(node)) return node.items.map((item) => toJson(item, depth + 1, walk));
  return mapToJson(node, depth, walk);
}

function mapToJson(map: YAMLMap.Parsed, depth: number, walk: Walk): Json {
  const entries: Record<string, Json> = {};
  let merged: Json | undefined;
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : "";
    const fault = keyFault(name, entries);
    if (fault === undefined) {
      entries[name] = toJson(value, depth + 1, walk);
      continue;
    }
    walk.report(key, fault);
    if (reservedKeys.has(name)) return unresolved;
    if (fault === mergeKey) merged = toJson(value, depth + 1, walk);
  }
  // The intention is clear: the rest is checked as if the merged keys were written here.
  return isObject(merged) ? { ...merged, ...entries } : entries;
}

function keyFault(name: string, before: Record<string, Json>): Fault | undefined {
  if (name === "<<") return mergeKey;
  if (name === "__proto__") return proto;
  if (reservedKeys.has(name)) {
    const hint = "write ${secret.name} for a secret and ${section.name.output} for an output";
    return { code: "reserved-key", message: `the key ${name} belongs to graphform itself`, hint };
  }
  if (!Object.hasOwn(before, name)) return undefined;
  const hint = "remove one of the two, or rename it";
  return { code: "duplicate-key", message: `the key "${name}" is written twice`, hint };
}

function aliasToJson(node: Alias.Parsed, walk: Walk): Json {
  const anchor = walk.anchors.get(node.source);
  if (anchor === undefined) {
    // A password may begin with an asterisk: the message does not repeat the name.
    const hint = "write &name before the value that is meant, or put the text in quotes";
    const message = "this alias has no anchor: none above has its name";
    walk.report(node, { code: "yaml", message, hint });
    return unresolved;
  }
  if (anchor.value === undefined)
    return stop(node, { ...explodes, message: "this alias contains itself" }, walk);
  walk.aliases.set(node, anchor.node);
  walk.aliased += anchor.values;
  walk.values += anchor.values - 1;
  return walk.aliased > aliasedValues ? stop(node, explodes, walk) : anchor.value;
}

/** Reports a fault and stops: everything after it would be noise. */
function stop(node: ParsedNode, fault: Fault, walk: Walk): null {
  walk.stopped = true;
  walk.report(node, fault);
  return null;
}

const mergeKey: Fault = {
  code: "merge-key",
  message: "merge keys (<<) are not part of YAML 1.2",
  hint: "put what several share under defaults, or repeat one with forEach",
};

const proto: Fault = {
  code: "reserved-key",
  message: "a key may not be called __proto__",
  hint: "choose another name",
};

const explodes: Fault = {
  code: "alias-bomb",
  message: `the aliases stand for more than ${aliasedValues} values`,
  hint: "write the values out, or put what several share under defaults",
};

const tooDeep: Fault = {
  code: "too-deep",
  message: `nested deeper than ${deepest} levels`,
  hint: "a manifest needs no more than six levels; look for brackets or dashes that are never closed",
};

/** The map that a text of JSON spells. Undefined for every other text, and for one with a fault: JSON is YAML, whose reader says which. */
export function jsonMap(text: string): JsonObject | undefined {
  const value = /^\s*\{/.test(text) ? objectIn(text) : undefined;
  // `JSON.parse` keeps the last of two equal keys.
  return value !== undefined && keysIn(value, deepest) === keysWritten(text) ? value : undefined;
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

/** The number of keys in valid JSON: quotes before a colon. A value that begins with a colon counts as one, too. */
function keysWritten(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) {
    let last = at - 1;
    while (text.charCodeAt(last) <= 0x20) last -= 1;
    if (text.charCodeAt(last) === quote && text.charCodeAt(last - 1) !== backslash) count += 1;
  }
  return count;
}

/** The offset behind the value that begins at another one in valid JSON. */
function endOf(text: string, start: number): number {
  let [depth, at] = [0, start];
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfText(text, at);
    else if (depth === 0 && (code <= 0x20 || code === comma || code === colon)) break;
    // Square brackets and braces differ in this bit alone.
    else if ((code | 0x20) === opening) depth += 1;
    else if ((code | 0x20) === closing) depth -= 1;
    if (depth < 0) break;
  }
  return at;
}

/** The offset of the quote that ends a text: the first that an even number of backslashes stands before. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    let first = at;
    while (text.charCodeAt(first - 1) === backslash) first -= 1;
    if ((at - first) % 2 === 0) return at;
  }
}

/** The nodes of valid JSON as the parser of YAML makes them. What is in a map or list is read when it is asked for. */
export function jsonNodes(text: string): ParsedNode {
  return nodeAt(text, text.search(/\S/), text.trimEnd().length);
}

function nodeAt(text: string, start: number, end: number): ParsedNode {
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
  const get = (): object[] => {
    const value = read();
    Object.defineProperty(node, "items", { value });
    return value;
  };
  return Object.assign(Object.defineProperty(node, "items", { get, configurable: true }), place);
}

const between = /[\s,:]*/y;

/** The nodes of the map or list that begins at an offset: of a map keys and values in turn. */
function nodesIn(text: string, start: number): ParsedNode[] {
  const nodes: ParsedNode[] = [];
  for (let at = start + 1; ; ) {
    between.lastIndex = at;
    between.test(text);
    at = between.lastIndex;
    if ((text.charCodeAt(at) | 0x20) === closing) return nodes;
    const end = endOf(text, at);
    nodes.push(nodeAt(text, at, end));
    at = end;
  }
}
