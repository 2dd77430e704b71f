/** @module Cuts the source line of a problem out of its manifest file. */
import { mask } from "../../model/mask.ts";
import type { SourceRange } from "../../model/problem.ts";
import type { Layer } from "../source.ts";
import type { Redactor } from "./redactor.ts";

/** Longest excerpt, in characters. */
const widest = 120;

/** Returns the source line of a range; undefined where the range is in no layer, or the line is empty. */
export type Excerpts = (range: SourceRange) => string | undefined;

/**
 * Returns the line on which a range begins, without secrets. Each control character is one visible character, so that columns stay
 * true; a long line is cut around the column, with an ellipsis where something is missing.
 */
export function excerptsOf(layers: readonly Layer[], redactor: Redactor): Excerpts {
  // One line can be the whole file and have many problems: it is redacted once.
  const { blanked = ({ text }: Layer) => text } = redactor;
  const shown = new Map(
    layers.map((layer) => [
      layer.file,
      { layer: { ...layer, text: blanked(layer) }, lines: new Map<number, string>() },
    ]),
  );
  return ({ file, start }) => {
    const known = shown.get(file);
    if (known === undefined) return undefined;
    const { layer, lines } = known;
    const before = lines.get(start.line);
    const line =
      before ??
      redactor
        .line(lineOf(layer, start.line) ?? "", (back) => lineOf(layer, start.line - back))
        .replace(/\0+/g, mask);
    if (before === undefined) lines.set(start.line, line);
    const text = visible(cut(line, start.column - 1));
    return text === "" ? undefined : text;
  };
}

/** A line without its end; undefined where there is none. */
function lineOf(layer: Layer, line: number): string | undefined {
  const start = layer.lines.lineStarts[line - 1];
  if (start === undefined) return undefined;
  const newline = layer.text.indexOf("\n", start);
  return layer.text.slice(start, newline < 0 ? undefined : newline).trimEnd();
}

function cut(line: string, column: number): string {
  if (line.length <= widest) return line;
  const from = Math.max(0, Math.min(column, line.length) - widest / 2);
  const to = Math.min(line.length, from + widest);
  return `${from > 0 ? "…" : ""}${line.slice(from, to)}${to < line.length ? "…" : ""}`;
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
