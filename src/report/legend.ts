/** @module Explains the signs and the placeholders that occur in a plan. */
import type { Page } from "./palette.ts";
import { sourceMeanings } from "./source-words.ts";
import { withoutColour, wrapIndented } from "./text-width.ts";

/** Meanings, in the order of the legend. A sign stands at the begin of a line, a placeholder anywhere in a folded block. */
const meanings: readonly (readonly [sign: string, meaning: string])[] = [
  ["±", "replaced"],
  ["-", "deleted"],
  ["~", "changed in place"],
  ["+", "created"],
  ["↳", "bound: it exists already"],
  ["→", "moved to another address"],
  ["○", "no longer managed"],
  ["✗", "blocked"],
  ["!", "failed, or changed outside"],
  ["?", "not checked"],
  ["…", "not ready yet"],
];

const placeholders: readonly string[] = ["ADDRESS", "ID", "NAME", "KEY", "PREVIOUS"];

/** One line, or several on a narrow page: the signs that begin one of these lines, and words that stand for others. */
export function legendLines(lines: readonly string[], { width }: Page): readonly string[] {
  const plain = lines.map((line) => withoutColour(line));
  const used = new Set(plain.map((line) => /^ {2}(?: {2}(?!→))?(\S) /u.exec(line)?.[1]));
  const signs = meanings.filter(([sign]) => used.has(sign)).map(([sign, meaning]) => `${sign} ${meaning}`);
  const isFolded = used.has("·");
  const words = placeholders.filter((word) => plain.some((line) => new RegExp(`\\b${word}\\b`).test(line)));
  const stand = words.length === 1 ? "stands for that" : "stand for those";
  const own = isFolded && words.length > 0 ? [`${words.join(", ")} ${stand} of each resource`] : [];
  const parts = [...signs, ...own, ...sourceMeanings(plain)];
  return parts.length === 0 ? [] : wrapIndented("Signs     ", parts.join(", "), width);
}
