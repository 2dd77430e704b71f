/** @module Finds the source range of a path in the files of a manifest. */
import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from "yaml";
import type { Position, SourceRange } from "../model/problem.ts";
import type { Layer, Path } from "./source.ts";

/** Start and end offsets in the text of one layer. */
export interface Span {
  readonly layer: Layer;
  readonly start: number;
  readonly end: number;
}

/** Which part of an entry is meant: its key, its value, or both. */
export type Part = "key" | "value" | "entry";

/** The span of a path in the uppermost layer that has it; undefined where none has. */
export function spanOf(layers: readonly Layer[], path: Path, part: Part): Span | undefined {
  for (const layer of layers.toReversed()) {
    const reached = walk(layer, path);
    if (reached.left === 0) return cut(layer, reached, part);
    if (reached.blocked) return undefined;
  }
  return undefined;
}

/** The span of a path or of its nearest parent; the start of the first file where there is neither. */
export function nearestSpan(layers: readonly Layer[], path: Path, part: Part): Span | undefined {
  for (let length = path.length; length > 0; length--) {
    const found = spanOf(layers, path.slice(0, length), length === path.length ? part : "key");
    if (found !== undefined) return found;
  }
  const [layer] = layers;
  return layer === undefined ? undefined : { layer, start: 0, end: 0 };
}

/** The span of a text inside another span; the whole span where the text is not in it. */
export function within(span: Span, text: string): Span {
  const at = span.layer.text.slice(span.start, span.end).indexOf(text);
  return at < 0 ? span : { ...span, start: span.start + at, end: span.start + at + text.length };
}

/** A span as lines and columns. */
export function rangeOf(span: Span | undefined): SourceRange {
  if (span === undefined) return { file: "", start: { line: 1, column: 1 }, end: { line: 1, column: 1 } };
  return {
    file: span.layer.file,
    start: positionOf(span.layer, span.start),
    end: positionOf(span.layer, span.end),
  };
}

function positionOf(layer: Layer, offset: number): Position {
  const { line, col } = layer.lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

interface Reached {
  readonly key: ParsedNode | undefined;
  readonly value: ParsedNode | undefined;
  /** Steps of the path that could not be taken. */
  readonly left: number;
  /** True where a parent of the path is not a map: it hides the layers below. */
  readonly blocked: boolean;
}

function walk(layer: Layer, path: Path): Reached {
  let key: ParsedNode | undefined;
  let value = through(layer, layer.root ?? undefined);
  for (const [taken, step] of path.entries()) {
    const left = path.length - taken;
    if (isMap<ParsedNode, ParsedNode>(value)) {
      const entry = entriesOf(value).get(String(step));
      if (entry === undefined) return { key, value, left, blocked: false };
      key = entry.key;
      value = through(layer, entry.value);
    } else if (isSeq<ParsedNode>(value) && value.items[Number(step)] !== undefined) {
      key = undefined;
      value = through(layer, value.items[Number(step)]);
    } else return { key, value, left, blocked: value !== undefined };
  }
  return { key, value, left: 0, blocked: false };
}

function cut(layer: Layer, reached: Reached, part: Part): Span {
  const keyRange = reached.key?.range;
  const valueRange = reached.value?.range;
  const shown = part === "value" && isShown(reached.value) ? valueRange : keyRange;
  const [start, end] = shown ?? valueRange ?? keyRange ?? [0, 0];
  if (part !== "entry") return { layer, start, end };
  const last = Math.max(end, valueRange?.[1] ?? end);
  return { layer, start, end: start + layer.text.slice(start, last).trimEnd().length };
}

/** True for values that begin on the line of their key; problems of others point at the key. */
function isShown(node: ParsedNode | undefined): boolean {
  if (isScalar(node)) return node.range[1] > node.range[0];
  return isMap(node) || isSeq(node) ? node.flow === true : node !== undefined;
}

function through(layer: Layer, node: ParsedNode | undefined): ParsedNode | undefined {
  return isAlias(node) ? (layer.aliases.get(node) ?? node) : node;
}

interface Entry {
  readonly key: ParsedNode;
  readonly value: ParsedNode | undefined;
}

const indexes = new WeakMap<YAMLMap, ReadonlyMap<string, Entry>>();

/** Entries by key, indexed once for each map; the first of several equal keys counts. */
function entriesOf(map: YAMLMap<ParsedNode, ParsedNode | null>): ReadonlyMap<string, Entry> {
  const known = indexes.get(map);
  if (known !== undefined) return known;
  const entries = new Map<string, Entry>();
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : "";
    if (!entries.has(name)) entries.set(name, { key, value: value ?? undefined });
  }
  indexes.set(map, entries);
  return entries;
}
