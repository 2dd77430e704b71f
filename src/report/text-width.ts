/** @module Measures, pads, wraps and cuts text for the columns of a terminal. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";

/** Columns that escaped text takes on a terminal; colours take none. */
export function textWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text);
}

/** Pads text with spaces up to a width. */
export function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}

/** Wraps text with a hanging indent: `first` starts the first line, as many spaces start the others. A word that is too long stays whole. */
export function wrapIndented(first: string, text: string, width: number): readonly string[] {
  const indent = textWidth(first);
  const room = Math.max(20, width - indent);
  const lines = textWidth(text) <= room ? [text] : wrapped(text, room);
  return lines.map((line, at) => (at === 0 ? first : " ".repeat(indent)) + line);
}

/** Plain words need no parser of colours, which is slow. */
function wrapped(text: string, width: number): readonly string[] {
  const isPlain = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(text);
  return isPlain ? wrapWords(text.split(" "), width) : wrapAnsi(text, width).split("\n");
}

/** Lines of words that may have spaces of their own: no line ends within a word. */
export function wrapWords(words: readonly string[], width: number): readonly string[] {
  const [first = "", ...others] = words;
  const lines = [first];
  for (const word of others) {
    const line = `${lines.at(-1)} ${word}`;
    if (textWidth(line) > width) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

/**
 * Wraps prose for a terminal of so many columns; `undefined` leaves it as it is. Lines that are too long go on below, two columns further in.
 * Text may have colours. A line of an excerpt (`  47 | config:`) stays whole.
 */
export function wrapLines(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  const wrapped = text.split("\n").flatMap((line) => {
    if (textWidth(line) <= columns || /^ *\d* \| /.test(withoutColour(line))) return [line];
    const indent = /^ */.exec(line)?.[0] ?? "";
    const [first = "", ...rest] = wrapIndented("", line.trimStart(), columns - indent.length - 2);
    return [indent + first, ...rest.map((part) => `${indent}  ${part}`)];
  });
  return wrapped.join("\n");
}

const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** Text as it is without colours. */
export function withoutColour(text: string): string {
  return text.replaceAll(colours, "");
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
