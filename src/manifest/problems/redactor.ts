/** @module Hides secrets in the source lines and messages that a manifest problem shows. */

import { namesCredential, withoutLogin } from "../../model/login.ts";
import { mask, maskerOf } from "../../model/mask.ts";
import type { Layer } from "../source.ts";
import { nearest } from "./nearest.ts";

/** Functions that return a text with its secrets masked. */
export interface Redactor {
  /** The text of a file, its credentials replaced by NUL characters, one for each: the lines to show are cut out of it. */
  readonly blanked?: (layer: Layer) => string;
  /** A source line; `above(n)` is the n-th line above it, undefined where there is none. */
  line(line: string, above: (back: number) => string | undefined): string;
  /** Any other text. */
  text(text: string): string;
}

/** Names of the fields that a source line must not show. */
export interface HiddenFields {
  /** Their values are secret. */
  readonly secret: readonly string[];
  /** Their values are access lists, in which somebody may have written a password. */
  readonly lists: readonly string[];
}

/**
 * Makes a redactor that masks the values of the named fields, also where a name is misspelt, and every known secret text.
 * Its work grows linearly with the line: a line can be the whole file.
 */
export function redactorFor(fields: HiddenFields, texts: Iterable<string>): Redactor {
  const known = new Set(texts);
  const { text } = maskerOf(() => known);
  const kindOf = remembered((key: string): FieldKind => {
    if (namesCredential(key) || nearest(key, fields.secret) !== undefined) return "secret";
    return fields.lists.includes(key) ? "list" : "plain";
  });
  return {
    text,
    line(line, above) {
      const around = fieldAround(line, above, kindOf);
      if (around === "secret" || (around === "list" && !isPlainList(line, 0))) return mask;
      const from = hiddenFrom(line, kindOf);
      // Known texts first: an address that is cut is not known any more.
      return withoutLogin(from === undefined ? text(line) : text(line.slice(0, from)) + mask);
    },
  };
}

type FieldKind = "secret" | "list" | "plain";

/** The longest key that is searched for, and the deepest indentation, in characters. */
const longestKey = 64;
const deepestIndent = 200;

/** Number of lines above a line that are searched for the key of a value of several lines. */
const mostAbove = 200;

/** The longest access list that is read; of a longer one nothing is shown. */
const longestList = 2000;

function remembered<T>(find: (key: string) => T): (key: string) => T {
  const found = new Map<string, T>();
  return (key) => {
    const before = found.get(key);
    if (before !== undefined) return before;
    const value = find(key);
    found.set(key, value);
    return value;
  };
}

/** The offset of the first value in a line that must be masked; the rest of the line is masked with it. */
function hiddenFrom(line: string, kindOf: (key: string) => FieldKind): number | undefined {
  for (const { index } of line.matchAll(/[:=]/g)) {
    const key = keyBefore(line, index);
    if (key === undefined) continue;
    const kind = kindOf(key);
    if (kind === "plain") continue;
    space.lastIndex = index + 1;
    space.test(line);
    const from = space.lastIndex;
    if (from < line.length && !(kind === "secret" ? isHarmless(line, from) : isPlainList(line, from)))
      return from;
  }
  return undefined;
}

const space = /\s*/y;

/** The key that a `:` or `=` ends, quoted or not; undefined where it ends none. */
function keyBefore(line: string, sign: number): string | undefined {
  // Most colons are part of a text: this returns early for them.
  const isBare = !quotes.has(line[sign - 1] ?? "") && !isSpace(line[sign - 1] ?? "");
  if (isBare && line[sign] === ":" && !isSpace(line[sign + 1] ?? " ")) return undefined;
  const head = line.slice(Math.max(0, sign - longestKey), sign).trimEnd();
  const isQuoted = quotes.has(head.at(-1) ?? "");
  if (!isQuoted && line[sign] === ":" && !isSpace(line[sign + 1] ?? " ")) return undefined;
  const key = isQuoted ? head.slice(0, -1) : head;
  let begin = key.length;
  while (begin > 0 && !endsKey.test(key[begin - 1] ?? "")) begin -= 1;
  return begin < key.length ? key.slice(begin) : undefined;
}

const endsKey = /^[\s{},[\]"']/;

const quotes: ReadonlySet<string> = new Set(["'", '"']);

function isSpace(character: string): boolean {
  return /^\s/.test(character);
}

/** Matches the texts that may follow a secret field's colon: a bare reference, or the source of a declared secret. */
const harmless = /["']?\$\{[^}]*\}["']?\s*(?:[,}#]|$)|\{\s*(?:env|file|command)\b/y;

function isHarmless(line: string, from: number): boolean {
  harmless.lastIndex = from;
  return harmless.test(line);
}

/** Matches a rule of an access list that is shown: a pattern, a command or a reference. Anything else may be a password. */
const plainRule = /^(?:~|%[rw]{1,2}~|\+|-@?[a-z])/i;

function isPlainList(line: string, from: number): boolean {
  if (line.length - from > longestList) return false;
  const rules = line
    .slice(from)
    .replace(/\$\{[^${}]*\}/g, "~")
    .split(/[\s"'{},[\]]+/);
  return rules.every((rule) => rule === "" || plainRule.test(rule));
}

/**
 * The kind of the field that a line continues. Its key is on a line above: at the end of the previous one, or first on the
 * nearest line with less indentation.
 */
function fieldAround(
  line: string,
  above: (back: number) => string | undefined,
  kindOf: (key: string) => FieldKind,
): FieldKind {
  const indent = indentOf(line);
  for (let back = 1; back <= mostAbove; back += 1) {
    const earlier = above(back);
    if (earlier === undefined) return "plain";
    const tail = earlier.slice(-longestKey).trimEnd();
    if (tail === "") continue;
    const sign = tail.lastIndexOf(":");
    if (back === 1 && sign >= 0 && /^\s{0,9}[|>]?[-+0-9]{0,2}$/.test(tail.slice(sign + 1))) {
      const key = keyBefore(tail, sign);
      const kind = key === undefined ? "plain" : kindOf(key);
      if (kind !== "plain") return kind;
    }
    if (indent === 0) return "plain";
    if (indentOf(earlier) < indent) {
      const head = earlier.slice(0, deepestIndent + longestKey);
      const key = keyBefore(head, head.indexOf(":"));
      return key === undefined ? "plain" : kindOf(key);
    }
  }
  return "plain";
}

function indentOf(line: string): number {
  const head = line.slice(0, deepestIndent);
  return head.length - head.trimStart().length;
}
