/** @module Escapes text from the service or the manifest, so that it cannot control the terminal. */

/** Longest shown value, in characters. */
const longestValue = 240;

/** Longest shown message, in characters. */
const longestMessage = 4000;

/**
 * Control characters, characters that reorder or hide text (bidi, zero-width, invisible fillers), line and paragraph
 * separators, and halves of surrogate pairs.
 */
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
  return json.replace(unsafeInLines, units);
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
  return short[character] ?? units(character);
}

/** The code units of a character as JSON escapes them, so that a quoted text can be read back. */
function units(character: string): string {
  return Array.from({ length: character.length }, (_, at) => unit(character.charCodeAt(at))).join("");
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
