/** @module Writes a live value into the text of a manifest, at the field of one resource. */
import { isAlias, isMap, isScalar, isSeq, type ParsedNode, Scalar, stringify, YAMLSeq } from "yaml";
import { type AddressParts, formatAddress } from "../../model/address.ts";
import type { SourceRange } from "../../model/errors.ts";
import { type Json, jsonEscape, jsonIn, own, stableJson } from "../../model/json.ts";
import { textParts } from "../expression.ts";
import { type Followed, follow, rangeOf, type Span, spanOf, type WrittenMap } from "../locate.ts";
import { parseManifest } from "../parse.ts";
import type { Layer, Path } from "../source.ts";
import { mapOf } from "../values.ts";

/** Replaces the text from `start` to `end` of one layer; everything else stays byte for byte. */
export interface Edit extends Span {
  readonly text: string;
}

/** A value that cannot be written into the manifest, with the reason, the place and the way out. */
export interface AdoptRefusal {
  readonly message: string;
  readonly where?: SourceRange;
  readonly hint: string;
}

export function editedText({ layer, start, end, text }: Edit): string {
  return layer.text.slice(0, start) + text + layer.text.slice(end);
}

function lineEnd(layer: Pick<Layer, "text">): "\r\n" | "\n" {
  return layer.text.includes("\r\n") ? "\r\n" : "\n";
}

export interface AdoptedField {
  readonly address: AddressParts;
  readonly keys: Path;
  readonly value: Json;
  /** Number of resources that the block of this one makes. */
  readonly members: number;
}

/**
 * The edit that sets a field: replaces the value in its own style, or adds its key to the block in the uppermost file that has the block.
 * Refuses a text that is used by more than this one resource.
 */
export function adoptValue(layers: readonly Layer[], field: AdoptedField): Edit | AdoptRefusal {
  const { address, keys, members } = field;
  const base: Path = [address.section, address.name];
  const block = rangeOf(spanOf(layers, base, "key"));
  if (members > 1) return sharedBlock(layers, field);
  const path = [...base, ...keys];
  for (const layer of layers.toReversed()) {
    const found = follow(layer, path);
    if (found.missing.length > 0 && !found.isBlocked) continue;
    const shared = sharedIn(layer, found);
    if (shared !== undefined) return shared;
    const { value, missing } = found;
    if (value === undefined) return unwritable(block);
    if (missing.length === 0) return replaced(layers, layer, value, path, field);
    const expression = isScalar(value) ? expressionIn(value.value) : undefined;
    return expression === undefined
      ? unwritable(block)
      : fromExpression(layers, expression, rangeOfNode(layer, value));
  }
  for (const layer of layers.toReversed()) {
    const found = follow(layer, path);
    const { maps, missing } = found;
    if (missing.length > keys.length) continue;
    const shared = sharedIn(layer, found);
    if (shared !== undefined) return shared;
    const edit = insertEntry(layer, maps, missing, field.value);
    if (edit !== undefined) return proven(edit, path, field.value) ?? unwritable(block);
  }
  return unwritable(block);
}

/** Refuses an alias on the way, or a node that aliases stand for: what is below would be changed in several places. */
function sharedIn(layer: Layer, { passed }: Followed): AdoptRefusal | undefined {
  const anchored = new Set(layer.written().aliases.values());
  const shared = passed.find((node) => isAlias(node) || anchored.has(node));
  return (
    shared && {
      message: "the value stands in a part that an alias repeats: it cannot be changed in one place alone",
      where: rangeOfNode(layer, shared),
      hint: "write the part out where the alias stands, by hand",
    }
  );
}

export function isAdoptRefusal(result: Edit | AdoptRefusal): result is AdoptRefusal {
  return "message" in result;
}

function replaced(
  layers: readonly Layer[],
  layer: Layer,
  node: ParsedNode,
  path: Path,
  { value }: AdoptedField,
): Edit | AdoptRefusal {
  const where = rangeOfNode(layer, node);
  if (!isScalar(node)) return unwritable(where);
  const expression = expressionIn(node.value);
  if (expression !== undefined) return fromExpression(layers, expression, where);
  const [start, end] = node.range;
  const old = layer.text.slice(start, end);
  const isBlock = node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED;
  const block = isBlock && typeof value === "string" ? blockText(value, old, lineEnd(layer)) : undefined;
  const space = start === end && layer.text[start - 1] === ":" ? " " : "";
  const ending = isBlock ? old.slice(old.trimEnd().length) : "";
  const line = `${space}${scalarText(value, jsonStyle(layer) ?? node.type)}${ending}`;
  return proven({ layer, start, end, text: block ?? line }, path, value) ?? unwritable(where);
}

/** The edit, if its file then differs from before in this one value only; undefined otherwise. */
function proven(edit: Edit, path: Path, value: Json): Edit | undefined {
  const { layer } = edit;
  const [read] = parseManifest([{ path: layer.file, text: editedText(edit) }]).layers;
  const escaped = typeof value === "string" ? value.replaceAll("${", () => "$${") : value;
  const wanted = withValue(layer.value, path, escaped);
  return read?.value !== undefined && stableJson(read.value) === stableJson(wanted) ? edit : undefined;
}

function withValue(root: Json | undefined, [key, ...rest]: Path, value: Json): Json {
  if (key === undefined) return value;
  const map = mapOf(root);
  const below = own(map, String(key));
  return { ...map, [String(key)]: withValue(below, rest, value) };
}

function expressionIn(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const found = textParts(value).find((part) => typeof part !== "string");
  return typeof found === "object" ? found.text : undefined;
}

function fromExpression(layers: readonly Layer[], text: string, where: SourceRange): AdoptRefusal {
  const variable = /^\$\{\s*var\.([A-Za-z0-9_-]+)\s*\}$/.exec(text)?.[1];
  const span = variable === undefined ? undefined : spanOf(layers, ["variables", variable], "key");
  const declared =
    span === undefined ? "" : `, declared at ${rangeOf(span).file}:${rangeOf(span).start.line}`;
  return {
    message: `the value is made of ${text}${declared}: others may be made of it, too`,
    where,
    hint: "change what it is made of, or write the value in place of the expression, by hand",
  };
}

function sharedBlock(layers: readonly Layer[], { address, members }: AdoptedField): AdoptRefusal {
  const { section, name } = address;
  const span = spanOf(layers, [section, name, "forEach"], "key") ?? spanOf(layers, [section, name], "key");
  return {
    message: `${section}.${name} is one block for ${members} resources: it cannot be changed for ${formatAddress(address)} alone`,
    ...(span === undefined ? {} : { where: rangeOf(span) }),
    hint: "change the block for all of them by hand, or give this one a block of its own and list the address under moved",
  };
}

function unwritable(where: SourceRange): AdoptRefusal {
  return {
    message: "the value cannot be written here without changing something else",
    where,
    hint: "write it by hand",
  };
}

function rangeOfNode(layer: Layer, node: ParsedNode): SourceRange {
  return rangeOf({ layer, start: node.range[0], end: node.range[1] });
}

/** Adds a value below `path` after the last entry of a map; undefined if the map has no place for it. */
function insertEntry(layer: Layer, maps: readonly WrittenMap[], path: Path, value: Json): Edit | undefined {
  const map = maps.at(-1);
  const [start, end] = map?.range ?? [];
  if (map === undefined || start === undefined || end === undefined) return undefined;
  const last = map.items.at(-1);
  if (map.flow === true) {
    const entry = flowEntry(path, value, jsonStyle(layer));
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
  const outer = maps.at(-2)?.items[0]?.key;
  const step = outer === undefined ? 0 : indent - columnOf(layer, outer);
  const lines = blockLines(path, value, indent, step > 0 ? step : 2);
  return atLineEnd(layer, endOf(last.value, last.key), lines);
}

function flowEntry([key, ...rest]: Path, value: Json, style: Scalar.Type | undefined): string {
  const inner = rest.length === 0 ? scalarText(value, style) : `{ ${flowEntry(rest, value, style)} }`;
  return `${style === undefined ? plainText(String(key)) : doubleQuoted(String(key))}: ${inner}`;
}

/** Double quotes for every text of a file that is JSON, so that it stays JSON; undefined for YAML. */
function jsonStyle({ text }: Layer): Scalar.Type | undefined {
  return jsonIn(text) === undefined ? undefined : Scalar.QUOTE_DOUBLE;
}

/** One line for each key of the path; the last one has the value. */
function blockLines(path: Path, value: Json, indent: number, step: number): readonly string[] {
  return path.map((key, depth) => {
    const head = `${" ".repeat(indent + depth * step)}${plainText(String(key))}:`;
    return depth === path.length - 1 ? `${head} ${scalarText(value, undefined)}` : head;
  });
}

/** Puts lines below the line that an offset is in; a block scalar ends at the begin of the next line. */
function atLineEnd(layer: Layer, offset: number, lines: readonly string[]): Edit {
  const { text } = layer;
  const eol = lineEnd(layer);
  if (offset > 0 && text[offset - 1] === "\n")
    return { layer, start: offset, end: offset, text: lines.map((line) => line + eol).join("") };
  const newline = text.indexOf("\n", offset);
  const end = newline < 0 ? text.length : text[newline - 1] === "\r" ? newline - 1 : newline;
  return { layer, start: end, end, text: lines.map((line) => eol + line).join("") };
}

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

function columnOf(layer: Layer, node: ParsedNode): number {
  return layer.written().lines.linePos(node.range[0]).col - 1;
}

/** Characters that cannot be seen, or that change how the text around them is read. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A single value on one line, in the given style if that can hold it. `${` in a text is escaped: it is no expression. */
function scalarText(value: Json, style: Scalar.Type | undefined): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const text = value.replaceAll("${", () => "$${");
  if (text.search(unsafe) >= 0 || style === Scalar.QUOTE_DOUBLE) return doubleQuoted(text);
  return style === Scalar.QUOTE_SINGLE ? `'${text.replaceAll("'", "''")}'` : plainText(text);
}

/** Without quotes if it is read as the same text, inside brackets too; otherwise in double quotes. */
function plainText(text: string): string {
  const scalar = new Scalar(text);
  scalar.type = Scalar.PLAIN;
  const list = new YAMLSeq();
  list.flow = true;
  list.items.push(scalar);
  const written = stringify(list, { lineWidth: 0, flowCollectionPadding: false }).trimEnd().slice(1, -1);
  return written.includes("\n") ? doubleQuoted(text) : written;
}

function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(unsafe, jsonEscape);
}

/** A text as a block scalar like `old`, with its indentation and first comment; undefined if it cannot stand in one of this style. */
function blockText(text: string, old: string, eol: string): string | undefined {
  const [, style, marks, rest] = /^([|>])([0-9+-]{0,2})([^\r\n]*)\r?\n/.exec(old) ?? [];
  const indent = /\n([ ]+)\S/.exec(old)?.[1];
  if (style === undefined || marks === undefined || indent === undefined || /[0-9]/.test(marks))
    return undefined;
  const escaped = text.replaceAll("${", () => "$${");
  const body = escaped.replace(/\n$/, "");
  const isOdd = body === "" || /^\s|\n$/.test(body) || body.replaceAll("\n", "").search(unsafe) >= 0;
  if (isOdd || (style === ">" && body.includes("\n"))) return undefined;
  const lines = body.split("\n").map((line) => (line === "" ? "" : indent + line));
  const chomping = escaped.endsWith("\n") ? "" : "-";
  return [`${style}${chomping}${rest ?? ""}`, ...lines, ""].join(eol);
}
