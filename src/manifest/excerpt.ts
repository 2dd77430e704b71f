import { mask, maskerOf } from "../model/mask.ts";
import type { SourceRange } from "../model/problem.ts";
import { nearest } from "./nearest.ts";
import type { Layer } from "./source.ts";

/** Keeps secrets out of what people are shown. */
export interface Blot {
  /** A source line; `before` is the line above. */
  line(line: string, before: string): string;
  /** Any other text. */
  text(text: string): string;
}

const widest = 120;

/** Finds the source line of a range; undefined where the range is in no layer or the line is empty. */
export type Excerpts = (range: SourceRange) => string | undefined;

/**
 * The source lines that ranges begin on. Each control character is one visible character, so that columns stay
 * true; a long line is cut around the column, with an ellipsis where something is missing.
 */
export function excerptsOf(layers: readonly Layer[], blot: Blot): Excerpts {
  // Many problems can stand in one line, and a line can be the whole file.
  let last = { layer: layers[0], line: 0, text: "" };
  return ({ file, start }) => {
    const layer =
      last.layer?.file === file ? last.layer : layers.find((candidate) => candidate.file === file);
    if (layer === undefined) return undefined;
    if (last.layer !== layer || last.line !== start.line)
      last = {
        layer,
        line: start.line,
        text: blot.line(lineOf(layer, start.line), lineOf(layer, start.line - 1)),
      };
    const text = visible(cut(last.text, start.column - 1));
    return text === "" ? undefined : text;
  };
}

function lineOf(layer: Layer, line: number): string {
  const start = layer.lines.lineStarts[line - 1];
  if (start === undefined) return "";
  const newline = layer.text.indexOf("\n", start);
  return layer.text.slice(start, newline < 0 ? undefined : newline).trimEnd();
}

/**
 * A blot for fields whose values are secret wherever they stand, misspelt or not, and for texts that are known to
 * be secret.
 */
export function blotFor(fields: readonly string[], texts: Iterable<string>): Blot {
  const known = [...texts];
  const { text: blotText } = maskerOf(() => known);
  const isSecret = (key: string): boolean => looksSecret.test(key) || nearest(key, fields) !== undefined;
  return {
    text: blotText,
    line: (line, before) => (opens(before, isSecret) ? mask : blotText(blotFields(line, isSecret))),
  };
}

const looksSecret = /pass?w/i;

/** A key and its colon, quoted or not. */
const keys = /([^\s{},[\]"']+)(?:["']\s*[:=]\s*|\s*[:=](?:\s+|$))/g;

/** What may be shown after a secret field's colon: a bare reference, and where a declared secret is read. */
const harmless = /^(?:["']?\$\{[^}]*\}["']?\s*(?:[,}#]|$)|\{\s*(?:env|file|command)\b)/;

/** Hides the rest of the line after a secret field's colon. */
function blotFields(line: string, isSecret: (key: string) => boolean): string {
  for (const match of line.matchAll(keys)) {
    if (!isSecret(match[1] ?? "")) continue;
    const from = match.index + match[0].length;
    const rest = line.slice(from);
    if (rest !== "" && !harmless.test(rest)) return line.slice(0, from) + mask;
  }
  return line;
}

/** True where a line ends with a secret field's colon, so that its value stands on the next one. */
function opens(line: string, isSecret: (key: string) => boolean): boolean {
  const [, key] = /([^\s{},[\]"']+)["']?\s*:\s*[|>]?[-+0-9]*\s*$/.exec(line) ?? [];
  return key !== undefined && isSecret(key);
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
