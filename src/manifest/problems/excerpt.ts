/** @module Sorts the problems that people see and cuts their source lines out of the files: keys, and of values only those of plain fields. */
import { isMap, isScalar, isSeq, type Pair, type ParsedNode, type Scalar } from "yaml";
import type { Problem, SourceRange } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Finding, Kind } from "../../model/kind.ts";
import { sensitive } from "../../model/sealed.ts";
import type { Layer, Parsed, Path } from "../source.ts";
import { plainFields, type ShownAt, shownKey } from "./plain-fields.ts";

/** Returns the findings of one severity: sorted by place, without duplicates, with what may be shown of their source lines. */
export function finishProblems(
  findings: readonly Finding[],
  severity: Problem["severity"],
  { layers, value }: Parsed,
  kinds: readonly Kind[],
): readonly Problem[] {
  const seen = new Set<string>();
  const problems: Problem[] = [];
  const excerptOf = excerptsOf(layers, plainFields(value ?? {}, kinds));
  for (const finding of findings) {
    if (finding.severity !== severity) continue;
    const { range, code, message } = finding;
    const once = JSON.stringify([range.file, range.start.line, range.start.column, code, message]);
    if (seen.has(once)) continue;
    seen.add(once);
    const excerpt = excerptOf(range);
    problems.push({ ...finding, ...defined({ excerpt }) });
  }
  return problems.sort(byPlace);
}

function byPlace(a: Problem, b: Problem): number {
  if (a.range.file !== b.range.file) return a.range.file < b.range.file ? -1 : 1;
  const lines = a.range.start.line - b.range.start.line;
  return lines === 0 ? a.range.start.column - b.range.start.column : lines;
}

/** Longest excerpt, in characters. */
const widest = 120;

/**
 * Shows the line on which a range begins, without comments, and with every value as `shown` has it. Control characters become visible
 * ones, so that columns stay true; a long line is cut around the column. Undefined if the file does not parse, or the line is empty.
 */
export function excerptsOf(
  layers: readonly Layer[],
  shown: ShownAt,
): (range: SourceRange) => string | undefined {
  return ({ file, start }) => {
    const layer = layers.find((one) => one.file === file);
    if (layer?.value === undefined) return undefined;
    const text = visible(lineAround(layer, shown, start.line, start.column - 1));
    return text === "" ? undefined : text;
  };
}

/** A key or a value of the source, by its offsets, and what stands in its place; undefined: it is shown as it is. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly shown: string | undefined;
}

/** The parts between two offsets, in their order: a manifest has many more lines than problems. */
function partsOf(layer: Layer, shown: ShownAt, first: number, last: number): readonly Part[] {
  const parts: Part[] = [];
  const add = ({ range: [from, to], value }: Scalar.Parsed, instead: (text: string) => string): void => {
    const text = String(value ?? "");
    const is = instead(text);
    parts.push({ from, to, shown: is === text ? undefined : is });
  };
  const walk = (node: ParsedNode | null, path: Path): void => {
    if ((isMap(node) || isSeq(node)) && shown(path, {}) === sensitive)
      parts.push({ from: node.range[0], to: node.range[1], shown: sensitive });
    else if (isMap<ParsedNode, ParsedNode | null>(node)) {
      const from = firstBehind(node.items, first, ({ key, value }) => (value ?? key).range[1]);
      const behind = firstBehind(node.items, last, ({ key }) => key.range[0] + 1);
      for (const pair of node.items.slice(from, behind)) walkPair(pair, path);
    } else if (isSeq<ParsedNode>(node)) {
      for (const [at, item] of node.items.entries())
        if (item.range[1] > first && item.range[0] < last) walk(item, [...path, at]);
    } else if (isScalar(node) && node.value !== null && node.value !== "")
      add(node, (text) => shown(path, text));
  };
  const walkPair = ({ key, value }: Pair<ParsedNode, ParsedNode | null>, path: Path): void => {
    if (isScalar(key)) add(key, shownKey);
    walk(value, [...path, isScalar(key) ? String(key.value) : ""]);
  };
  walk(layer.written().root, []);
  return parts;
}

/** Names of anchors and aliases: a password that is not quoted may be read as one. Behind a cut also the rest of a name. */
const [names, namesBehindCut] = [/([&*])[^\s,[\]{}]+/g, /(^|[&*])[^\s,[\]{}]+/g];

/** Adds the names that stand between the parts from an offset to another one; of them the sign alone is shown. */
function withNames(
  parts: readonly Part[],
  text: string,
  from: number,
  to: number,
  isCut: boolean,
): readonly Part[] {
  let at = from;
  return [...parts, { from: to, to, shown: undefined }].flatMap((part) => {
    const found = text.slice(at, part.from).matchAll(isCut && at === from ? namesBehindCut : names);
    const before = at;
    at = Math.max(at, part.to);
    return [
      ...[...found].map(({ index, 0: { length }, 1: sign = "" }) => ({
        ...{ from: before + index, to: before + index + length },
        shown: sign === "" ? "" : `${sign}…`,
      })),
      part,
    ];
  });
}

/** The part of a line around a column. What stands behind a hidden value is left out if the column does: it would stand elsewhere. */
function lineAround(layer: Layer, shownAt: ShownAt, line: number, column: number): string {
  const { text } = layer;
  const { lineStarts } = layer.written().lines;
  const start = lineStarts[line - 1] ?? text.length;
  const end = start + text.slice(start, lineStarts[line]).trimEnd().length;
  const isLong = end - start > widest;
  const from = isLong ? start + Math.max(0, Math.min(column, end - start) - widest / 2) : start;
  const to = isLong ? Math.min(end, from + widest) : end;
  let shown = from > start ? "…" : "";
  let at = from;
  const parts = withNames(partsOf(layer, shownAt, from, to), text, from, to, from > start);
  for (let next = firstBehind(parts, from, (part) => part.to); at < to; next += 1) {
    const part = parts[next];
    const gap = text.slice(at, Math.min(to, Math.max(at, part?.from ?? to)));
    const comment = /(?:^|\s)#/.exec(gap);
    if (comment !== null) return (shown + gap.slice(0, comment.index)).trimEnd();
    shown += gap;
    if (part === undefined || part.from >= to) break;
    at = Math.min(to, part.to);
    shown += part.shown ?? text.slice(Math.max(from, part.from), at);
    if (part.shown !== undefined && part.to <= start + column) return shown;
  }
  return to < end ? `${shown}…` : shown;
}

/** The index of the first of them that ends behind an offset. */
function firstBehind<T>(sorted: readonly T[], offset: number, endOf: (item: T) => number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const item = sorted[middle];
    if (item !== undefined && endOf(item) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Control characters as their pictures, others that steer a terminal or reorder text as a box. */
function visible(text: string): string {
  return text
    .replace(/\p{Cc}/gu, (char) => {
      const code = char.charCodeAt(0);
      return code < 0x20 ? String.fromCharCode(0x24_00 + code) : code === 0x7f ? "\u2421" : "\ufffd";
    })
    .replace(/[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, "\ufffd");
}
