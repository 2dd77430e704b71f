/** @module Follows paths through the files of a manifest and finds their source ranges: the one place that knows positions. */
import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from "yaml";
import { type Address, parseAddress } from "../model/address.ts";
import type { Position, SourceRange } from "../model/errors.ts";
import { perObject } from "../model/once.ts";
import type { Layer, Path } from "./source.ts";

/** Start and end offsets in the text of one layer. */
export interface Span {
  readonly layer: Layer;
  readonly start: number;
  readonly end: number;
}

/** A part of an entry; `entry`: both. */
export type Part = "key" | "value" | "entry";

/** The block of a resource, by its section and its name. */
export interface BlockName {
  readonly kind: { readonly name: string };
  readonly name: string;
}

/** The range of a path in its block, else in the defaults of its section, else of the nearest parent; or that of an expression in it. */
export function rangeAt(
  layers: readonly Layer[],
  path: Path,
  part: Part,
  expression?: { readonly text: string },
  block?: BlockName,
): SourceRange {
  const whole = block === undefined ? path : [block.kind.name, block.name, ...path];
  const hasDefaults = block !== undefined && path.length > 0;
  const span =
    spanOf(layers, whole, part) ??
    (hasDefaults ? spanOf(layers, ["defaults", block.kind.name, ...path], part) : undefined) ??
    nearestSpan(layers, whole, part);
  const text = expression?.text ?? "";
  const at = span?.layer.text.slice(span.start, span.end).indexOf(text) ?? -1;
  if (span === undefined || expression === undefined || at < 0) return rangeOf(span);
  return rangeOf({ ...span, start: span.start + at, end: span.start + at + text.length });
}

/** Finds the range of a block: in JSON when it is asked for; the nodes of YAML are there now, and are forgotten later. */
export function blockRange(layers: readonly Layer[], block: BlockName): () => SourceRange {
  const find = (): SourceRange => rangeAt(layers, [], "entry", undefined, block);
  if (layers.every(({ isJson }) => isJson)) return find;
  const found = find();
  return () => found;
}

/** The range of the entry that declares a field. Undefined if no block declares the resource. */
export function fieldRange(
  layers: readonly Layer[],
  address: Address,
  path: string,
): SourceRange | undefined {
  const { section = "", name = "" } = parseAddress(address) ?? {};
  if (spanOf(layers, [section, name], "key") === undefined) return undefined;
  return rangeAt(layers, fieldKeys(path), "entry", undefined, { kind: { name: section }, name });
}

/** The keys of a field's path. A name in a map of the spec may contain dots. */
export function fieldKeys(path: string): Path {
  const dot = path.indexOf(".");
  return dot < 0 ? [path] : [path.slice(0, dot), path.slice(dot + 1)];
}

/** The span of a path in the uppermost layer that has it; undefined if none has. */
export function spanOf(layers: readonly Layer[], path: Path, part: Part): Span | undefined {
  for (const layer of layers.toReversed()) {
    const { key, value, missing, isBlocked } = follow(layer, path);
    if (missing.length === 0) return cut(layer, key, through(layer, value), part);
    if (isBlocked) return undefined;
  }
  return undefined;
}

/** The span of a path or of its nearest parent; the start of the first file if there is neither. */
function nearestSpan(layers: readonly Layer[], path: Path, part: Part): Span | undefined {
  for (let length = path.length; length > 0; length--) {
    const found = spanOf(layers, path.slice(0, length), length === path.length ? part : "key");
    if (found !== undefined) return found;
  }
  const [layer] = layers;
  return layer === undefined ? undefined : { layer, start: 0, end: 0 };
}

export function rangeOf(span: Span | undefined): SourceRange {
  if (span === undefined) return { file: "", start: { line: 1, column: 1 }, end: { line: 1, column: 1 } };
  const { layer, start, end } = span;
  return { file: layer.file, start: positionOf(layer, start), end: positionOf(layer, end) };
}

function positionOf(layer: Layer, offset: number): Position {
  const { line, col } = layer.written().lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

export type WrittenMap = YAMLMap<ParsedNode, ParsedNode | null>;

/** The end of a path in one file: as far as it leads. */
export interface Followed {
  /** Maps that were passed, from the outermost; `missing` begins in the last one. */
  readonly maps: readonly WrittenMap[];
  /** Nodes that were passed, as they are written. */
  readonly passed: readonly ParsedNode[];
  readonly key: ParsedNode | undefined;
  /** The last node that was reached, as it is written: it may be an alias. */
  readonly value: ParsedNode | undefined;
  /** Steps of the path that could not be taken. */
  readonly missing: Path;
  /** True if a parent of the path is not a map: it hides the layers below. */
  readonly isBlocked: boolean;
}

export function follow(layer: Layer, path: Path): Followed {
  const maps: WrittenMap[] = [];
  const passed: ParsedNode[] = [];
  let key: ParsedNode | undefined;
  let value = layer.written().root ?? undefined;
  for (let taken = 0; taken < path.length; taken += 1) {
    const step = path[taken];
    if (value !== undefined) passed.push(value);
    const target = through(layer, value);
    let next: Entry | undefined;
    if (isMap<ParsedNode, ParsedNode | null>(target)) {
      maps.push(target);
      next = entriesOf(target).get(String(step));
    } else if (isSeq<ParsedNode>(target)) next = { key: undefined, value: target.items[Number(step)] };
    if (next === undefined || (next.key === undefined && next.value === undefined)) {
      const isBlocked = target !== undefined && !isMap(target);
      return { maps, passed, key, value, missing: path.slice(taken), isBlocked };
    }
    ({ key, value } = next);
  }
  if (value !== undefined) passed.push(value);
  return { maps, passed, key, value, missing: [], isBlocked: false };
}

function cut(layer: Layer, key: ParsedNode | undefined, value: ParsedNode | undefined, part: Part): Span {
  const keyRange = key?.range;
  const valueRange = value?.range;
  const shown = part === "value" && isShown(value) ? valueRange : keyRange;
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
  return isAlias(node) ? (layer.written().aliases.get(node) ?? node) : node;
}

interface Entry {
  /** Undefined for an entry of a list. */
  readonly key: ParsedNode | undefined;
  readonly value: ParsedNode | undefined;
}

/** Entries by key; the first of several equal keys counts. */
const entriesOf = perObject((map: WrittenMap): ReadonlyMap<string, Entry> => {
  const entries = new Map<string, Entry>();
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : "";
    if (!entries.has(name)) entries.set(name, { key, value: value ?? undefined });
  }
  return entries;
});
