/** @module Adds a key to a map of a manifest, in the layout that the map has. */
import { isMap, isScalar, isSeq, type ParsedNode } from "yaml";
import type { Json } from "../../model/json.ts";
import type { Layer, Path } from "../source.ts";
import { type Edit, lineEnd } from "./edit.ts";
import type { WrittenMap } from "./follow-path.ts";
import { plainText, scalarText } from "./scalar-text.ts";

/** Adds a value below `path` after the last entry of a map; undefined where the map has no place for it. */
export function insertEntry(
  layer: Layer,
  maps: readonly WrittenMap[],
  path: Path,
  value: Json,
): Edit | undefined {
  const map = maps.at(-1);
  const [start, end] = map?.range ?? [];
  if (map === undefined || start === undefined || end === undefined) return undefined;
  const last = map.items.at(-1);
  if (map.flow === true) {
    const entry = flowEntry(path, value);
    if (last !== undefined) {
      const at = endOf(last.value, last.key);
      return { layer, start: at, end: at, text: `, ${entry}` };
    }
    const isEmpty = layer.text.slice(start + 1, end - 1).trim() === "";
    return isEmpty ? { layer, start: start + 1, end: end - 1, text: ` ${entry} ` } : undefined;
  }
  const [first] = map.items;
  if (first === undefined || last === undefined) return undefined;
  const indent = columnOf(layer, first.key);
  const lines = blockLines(path, value, indent, stepOf(layer, maps, indent));
  return atLineEnd(layer, endOf(last.value, last.key), lines);
}

function flowEntry([key, ...rest]: Path, value: Json): string {
  const inner = rest.length === 0 ? scalarText(value, undefined) : `{ ${flowEntry(rest, value)} }`;
  return `${plainText(String(key))}: ${inner}`;
}

/** One line for each key of the path; the last one has the value. */
function blockLines(path: Path, value: Json, indent: number, step: number): readonly string[] {
  return path.map((key, depth) => {
    const head = `${" ".repeat(indent + depth * step)}${plainText(String(key))}:`;
    return depth === path.length - 1 ? `${head} ${scalarText(value, undefined)}` : head;
  });
}

/** Puts lines below the line that an offset is in; a block scalar ends where the next line begins. */
function atLineEnd(layer: Layer, offset: number, lines: readonly string[]): Edit {
  const { text } = layer;
  const eol = lineEnd(layer);
  if (offset > 0 && text[offset - 1] === "\n")
    return { layer, start: offset, end: offset, text: lines.map((line) => line + eol).join("") };
  const newline = text.indexOf("\n", offset);
  const end = newline < 0 ? text.length : text[newline - 1] === "\r" ? newline - 1 : newline;
  return { layer, start: end, end, text: lines.map((line) => eol + line).join("") };
}

/** The end of what an entry says, without the comments behind it. */
function endOf(value: ParsedNode | null | undefined, key: ParsedNode): number {
  if (isMap<ParsedNode, ParsedNode | null>(value) && value.flow !== true) {
    const last = value.items.at(-1);
    if (last !== undefined) return endOf(last.value, last.key);
  }
  if (isSeq<ParsedNode>(value) && value.flow !== true) {
    const last = value.items.at(-1);
    if (last !== undefined) return endOf(last, key);
  }
  if (value === null || value === undefined) return key.range[1];
  return isScalar(value) && value.range[0] === value.range[1] ? key.range[1] : value.range[1];
}

/** Spaces before a node on its line. */
function columnOf(layer: Layer, node: ParsedNode): number {
  return layer.lines.linePos(node.range[0]).col - 1;
}

/** Spaces by which this map is deeper than the one around it. */
function stepOf(layer: Layer, maps: readonly WrittenMap[], indent: number): number {
  const outer = maps.at(-2)?.items[0]?.key;
  const step = outer === undefined ? 0 : indent - columnOf(layer, outer);
  return step > 0 ? step : 2;
}
