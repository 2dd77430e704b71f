import type { SourceRange } from "../model/problem.ts";
import type { Layer } from "./source.ts";

/** Blots out secrets in a source line before anybody sees it. */
export type Blot = (line: string) => string;

const widest = 120;

/**
 * The source line that a range begins on. Each control character is one visible character, so that columns stay
 * true; a long line is cut around the column, with an ellipsis where something is missing.
 */
export function excerptOf(layers: readonly Layer[], range: SourceRange, blot: Blot): string | undefined {
  const layer = layers.find((candidate) => candidate.file === range.file);
  if (layer === undefined) return undefined;
  const start = layer.lines.lineStarts[range.start.line - 1] ?? 0;
  const newline = layer.text.indexOf("\n", start);
  const line = layer.text.slice(start, newline < 0 ? undefined : newline).trimEnd();
  const text = visible(cut(blot(line), range.start.column - 1));
  return text === "" ? undefined : text;
}

/** A blot for fields whose values are secret wherever they stand, and for texts that are known to be secret. */
export function blotFor(fields: Iterable<string>, texts: Iterable<string>): Blot {
  const names = [...fields].map((name) => name.replace(/[^A-Za-z0-9_]/g, "\\$&"));
  const known = [...texts].filter((text) => text.length >= shortestKnown).sort((a, b) => b.length - a.length);
  const field = names.length === 0 ? undefined : new RegExp(`(?:${names.join("|")})["']?\\s*[:=]\\s*`, "g");
  return (line) => {
    const shown = field === undefined ? line : blotFields(line, field);
    return known.reduce((text, secret) => text.split(secret).join(blotted), shown);
  };
}

const blotted = "******";

/** Shorter texts are words that stand everywhere. */
const shortestKnown = 4;

const onlyReference = /^["']?\$\{[^}]*\}["']?\s*(?:[,}#]|$)/;

/** Hides the rest of the line after a secret field's colon; only a bare reference, which holds no secret, may stay. */
function blotFields(line: string, field: RegExp): string {
  for (const match of line.matchAll(field)) {
    const from = match.index + match[0].length;
    const rest = line.slice(from);
    if (rest !== "" && !onlyReference.test(rest)) return line.slice(0, from) + blotted;
  }
  return line;
}

function cut(line: string, column: number): string {
  if (line.length <= widest) return line;
  const from = Math.max(0, Math.min(column - widest / 2, line.length - widest));
  const to = from + widest;
  return `${from > 0 ? "…" : ""}${line.slice(from, to)}${to < line.length ? "…" : ""}`;
}

/** Control characters as their pictures, others that steer a terminal or reorder text as a box. */
function visible(text: string): string {
  return text
    .replace(/\p{Cc}/gu, (char) => {
      const code = char.charCodeAt(0);
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
    })
    .replace(/[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, "\ufffd");
}
