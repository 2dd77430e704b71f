/** How much of one value is shown, in characters. */
const longestValue = 240;

/** How much of a message is shown, in characters. */
const longestMessage = 4000;

/**
 * Control characters, what reorders or hides text (bidi, zero-width, invisible fillers), line and paragraph
 * separators, and halves of surrogate pairs.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Like `hidden`, but leaves line breaks and tabs. */
const hiddenInLines = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

const short: { readonly [character: string]: string } = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Foreign text on one line: what could steer a terminal is spelled out (`\u001b`), a very long text loses its middle. */
export function escapeText(text: string, most: number = longestMessage): string {
  return cutMiddle(text, most).replace(hidden, spelled) + lengthNote(text, most);
}

/** Foreign text of several lines: line breaks and tabs stay, nothing is cut. */
export function escapeLines(text: string): string {
  return text.replace(hiddenInLines, spelled);
}

/** A text in quotation marks, as JSON writes it, so that "25" and 25 look different; its middle is cut where it is long. */
export function quoteText(text: string, most: number = longestValue): string {
  return JSON.stringify(cutMiddle(text, most)).replace(hidden, spelled) + lengthNote(text, most);
}

/** JSON text of the same value in which nothing steers a terminal: such characters become `\uXXXX` escapes. */
export function escapeJson(json: string): string {
  return json.replace(hiddenInLines, (character) =>
    [...character]
      .flatMap((one) => Array.from({ length: one.length }, (_, at) => unit(one.charCodeAt(at))))
      .join(""),
  );
}

function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor(most / 3);
  const head = text.slice(0, most - tail).replace(/[\ud800-\udbff]$/, "");
  return `${head} … ${text.slice(text.length - tail).replace(/^[\udc00-\udfff]/, "")}`;
}

function lengthNote(text: string, most: number): string {
  return text.length <= most ? "" : ` (${text.length} characters)`;
}

function spelled(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return short[character] ?? (code > 0xff_ff ? `\\u{${code.toString(16)}}` : unit(code));
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
