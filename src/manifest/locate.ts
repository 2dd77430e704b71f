import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from "yaml";
import type { Position, SourceRange } from "../model/problem.ts";
import type { Layer, Path } from "./source.ts";

/** A stretch of one layer's text. */
export interface Spot {
  readonly layer: Layer;
  readonly start: number;
  readonly end: number;
}

/** Which part of an entry is meant: its key, its value, or both. */
export type Part = "key" | "value" | "entry";

/** Where a path is written; undefined where no layer holds it. Of several layers the uppermost counts. */
export function spotOf(layers: readonly Layer[], path: Path, part: Part): Spot | undefined {
  for (const layer of layers.toReversed()) {
    const reached = walk(layer, path);
    if (reached.left === 0) return cut(layer, reached, part);
    if (reached.blocked) return undefined;
  }
  return undefined;
}

/** Where a path is written, or else the nearest thing around it; the start of the first file where nothing is. */
export function nearestSpot(layers: readonly Layer[], path: Path, part: Part): Spot | undefined {
  for (let length = path.length; length > 0; length--) {
    const found = spotOf(layers, path.slice(0, length), length === path.length ? part : "key");
    if (found !== undefined) return found;
  }
  const [layer] = layers;
  return layer === undefined ? undefined : { layer, start: 0, end: 0 };
}

/** The first occurrence of a text inside a spot, or the whole spot where it is not written like that. */
export function within(spot: Spot, text: string): Spot {
  const at = spot.layer.text.slice(spot.start, spot.end).indexOf(text);
  return at < 0 ? spot : { ...spot, start: spot.start + at, end: spot.start + at + text.length };
}

/** A spot in lines and columns. */
export function rangeOf(spot: Spot | undefined): SourceRange {
  if (spot === undefined) return { file: "", start: { line: 1, column: 1 }, end: { line: 1, column: 1 } };
  return {
    file: spot.layer.file,
    start: positionOf(spot.layer, spot.start),
    end: positionOf(spot.layer, spot.end),
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
  /** True where something else than a map stands in the way, which hides the layers below. */
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

function cut(layer: Layer, reached: Reached, part: Part): Spot {
  const keyRange = reached.key?.range;
  const valueRange = reached.value?.range;
  const shown = part === "value" && isShown(reached.value) ? valueRange : keyRange;
  const [start, end] = shown ?? valueRange ?? keyRange ?? [0, 0];
  if (part !== "entry") return { layer, start, end };
  const last = Math.max(end, valueRange?.[1] ?? end);
  return { layer, start, end: start + layer.text.slice(start, last).trimEnd().length };
}

/** A value is pointed at where it begins on its key's line; a block and an empty value are not. */
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

/** Entries by key, made once for each map that is looked into; the first of several equal keys counts. */
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
