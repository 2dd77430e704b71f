/** @module Measures, pads and wraps text for the columns of a terminal. */
import { eastAsianWidth } from "get-east-asian-width";

const plain = /^[\x20-\x7e]*$/;
const combining = /[\p{Mn}\p{Me}]/u;

/** Columns that escaped, uncoloured text takes on a terminal. */
export function textWidth(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const character of text)
    width += combining.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);
  return width;
}

/** Pads text with spaces up to a width. */
export function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}

/** Lines of at most `width` columns, broken between words only: a word that is too long stays whole. */
function wrapText(
  text: string,
  width: number,
  widthOf: (word: string) => number = textWidth,
): readonly string[] {
  return wrapWords(text.split(" "), width, widthOf);
}

/** The same for words that may have spaces of their own. */
export function wrapWords(
  words: readonly string[],
  width: number,
  widthOf: (word: string) => number = textWidth,
): readonly string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of words) {
    if (line === undefined) line = word;
    else if (widthOf(line) + 1 + widthOf(word) <= width) line = `${line} ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line ?? ""];
}

/**
 * Wraps prose for a terminal of so many columns, undefined where it goes elsewhere: lines that are too long go on below, two columns further in.
 * Text may have colours. A line of an excerpt (`  47 | config:`) stays whole.
 */
export function wrapLines(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  return text
    .split("\n")
    .flatMap((line) => {
      const bare = withoutColour(line);
      if (textWidth(bare) <= columns || excerptLine.test(bare)) return [line];
      const indent = /^ */.exec(bare)?.[0] ?? "";
      const [first = "", ...rest] = wrapText(
        line.slice(line.startsWith(indent) ? indent.length : 0),
        Math.max(20, columns - indent.length - 2),
        (word) => textWidth(withoutColour(word)),
      );
      return [indent + first, ...rest.map((part) => `${indent}  ${part}`)];
    })
    .join("\n");
}

const excerptLine = /^ *\d* \| /;
const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** Text as it is without colours. */
export function withoutColour(text: string): string {
  return text.replaceAll(colours, "");
}

/** Wraps text with a hanging indent: `first` starts the first line, as many spaces start the others. */
export function wrapIndented(first: string, text: string, width: number): readonly string[] {
  const indent = textWidth(first);
  const lines = wrapText(text, Math.max(20, width - indent));
  return lines.map((line, at) => (at === 0 ? first : " ".repeat(indent)) + line);
}

/** Cuts text to a width; a text that is cut ends with `…`. */
export function cutTo(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let cut = "";
  for (const character of text) {
    if (textWidth(cut + character) > width - 1) break;
    cut += character;
  }
  return width < 1 ? "" : `${cut}…`;
}

/** Cuts the start off a text that is wider; what is left begins with `…` then. */
export function cutStartTo(text: string, width: number): string {
  const reversed = (given: string): string => [...given].toReversed().join("");
  return textWidth(text) <= width ? text : reversed(cutTo(reversed(text), width));
}
