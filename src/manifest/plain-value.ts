/** @module Converts a YAML tree to plain JSON values. */
import { type Alias, isAlias, isScalar, isSeq, type ParsedNode, type YAMLMap } from "yaml";
import { isObject, type Json } from "../model/json.ts";
import type { Fault } from "./problems/fault.ts";
import { unresolved } from "./values.ts";

export interface Plain {
  /** Undefined if aliases expand without limit, or the nesting is too deep. */
  readonly value: Json | undefined;
  readonly aliases: ReadonlyMap<ParsedNode, ParsedNode>;
}

/** Deepest nesting of maps and lists; a manifest needs six. */
export const deepest = 64;

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
    const message = "this alias stands for nothing: there is no such anchor above";
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
