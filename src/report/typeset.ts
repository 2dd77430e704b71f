/** @module Escapes, measures, wraps and colours text, so that nothing of a service or a manifest can control the terminal. */
import picocolors from "picocolors";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { type Json, jsonEscape, stableJson } from "../model/json.ts";

const longestValue = 240;

const longestMessage = 4000;

/** Control characters, those that reorder or hide text (bidi, zero-width, invisible fillers), line separators, and halves of surrogate pairs. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Like `unsafe`, but leaves line breaks and tabs. */
const unsafeInLines = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

const short: { readonly [character: string]: string } = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Escapes text for one line: control characters become visible (`\u001b`), and a very long text loses its middle. */
export function escapeText(text: string, maxLength: number = longestMessage): string {
  return cutMiddle(text, maxLength).replace(unsafe, escapeCharacter) + lengthNote(text, maxLength);
}

/** Escapes text of several lines: line breaks and tabs stay, nothing is cut. */
export function escapeLines(text: string): string {
  return text.replace(unsafeInLines, escapeCharacter);
}

/** Quotes text as JSON does, so that "25" and 25 look different; a long text loses its middle. */
export function quoteText(text: string, maxLength: number = longestValue): string {
  return (
    JSON.stringify(cutMiddle(text, maxLength)).replace(unsafe, escapeCharacter) + lengthNote(text, maxLength)
  );
}

/** Escapes control characters in JSON text as `\uXXXX`; the value stays the same. */
export function escapeJson(json: string): string {
  return json.replace(unsafeInLines, jsonEscape);
}

function cutMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const tail = Math.floor(maxLength / 3);
  const head = text.slice(0, maxLength - tail).replace(/[\ud800-\udbff]$/, "");
  return `${head} … ${text.slice(text.length - tail).replace(/^[\udc00-\udfff]/, "")}`;
}

function lengthNote(text: string, maxLength: number): string {
  return text.length <= maxLength ? "" : ` (${text.length} characters)`;
}

function escapeCharacter(character: string): string {
  return short[character] ?? jsonEscape(character);
}

/** JSON with sorted keys, so that equal values are equal bytes; control characters are escaped. */
export function jsonText(value: Json, indent = 0): string {
  return escapeJson(stableJson(value, indent));
}

/** Columns that escaped text takes on a terminal; colours take none. */
export function textWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text);
}

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

/** Wraps prose, which may have colours, to so many columns, with a hanging indent. A line of an excerpt (`  47 | config:`) stays whole. */
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

/** Colours text that is already escaped. */
type Paint = (text: string) => string;

/** The colours of text reports. The caller decides about colour; reports do not inspect the terminal. */
export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly yellow: Paint;
  readonly green: Paint;
  readonly cyan: Paint;
  readonly plain: Paint;
}

/** Creates a palette; without `colour` it returns every text unchanged. */
export function makePalette(colour: boolean): Palette {
  const { bold, dim, red, yellow, green, cyan } = picocolors.createColors(colour);
  return { bold, dim, red, yellow, green, cyan, plain: (text) => text };
}

/** Layout of a text report: its colours and its width in columns. */
export interface Page {
  readonly palette: Palette;
  readonly width: number;
}
