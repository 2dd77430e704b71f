/** @module Reads a text as it was before others escaped it, and keeps the place of each character in the original. */

/** A text. Its unit `i` (UTF-16) stands in the original from `starts[i]` up to `ends[i]`. */
export interface Reading {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** A part of a text of so many units, and the text that it stands for. */
type Piece = readonly [meaning: string, length: number];

/** A text that was escaped more often than this is not read to its end. */
const maxDepth = 8;

/** The text as it stands, and with the escapes of JSON, JavaScript, Python, C, URLs and HTML undone until nothing changes; each folded. */
export function readingsOf(text: string): readonly Reading[] {
  const layers = [verbatim(text)];
  for (let last = layers[0]; last !== undefined && layers.length <= maxDepth; ) {
    const next: Reading = /[\\%&]/.test(last.text) ? rewritten(last, escapes, meaningsOf) : last;
    last = next === last || next.text === last.text ? undefined : next;
    if (last !== undefined) layers.push(last);
  }
  return layers.map(fold);
}

function verbatim(text: string): Reading {
  const [starts, ends]: [number[], number[]] = [[], []];
  for (let at = 0; at < text.length; at += 1) {
    starts.push(at);
    ends.push(at + 1);
  }
  return { text, starts, ends };
}

/** One byte: `%2F`, `\x2f` or `\057`. */
const byte = /(?:%|\\x)([0-9a-fA-F]{2})|\\([0-3][0-7]{2})/g;

const escapes =
  /(?:(?:%|\\x)[0-9a-fA-F]{2}|\\[0-3][0-7]{2})+|\\u\{([0-9a-fA-F]{1,6})\}|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|&#[xX]([0-9a-fA-F]{1,6});|&#([0-9]{1,7});|&(amp|lt|gt|quot|apos|nbsp);|\\(.)/gs;

const entities: { readonly [name: string]: string } = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" },
};

const controls: { readonly [letter: string]: string } = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

function meaningsOf(match: RegExpExecArray): readonly Piece[] {
  const [whole, braced, short, long, hex, decimal, entity, plain] = match;
  const code = braced ?? short ?? long ?? hex;
  const one = (meaning: string): readonly Piece[] => [[meaning, whole.length]];
  if (code !== undefined) return one(character(Number.parseInt(code, 16), whole));
  if (decimal !== undefined) return one(character(Number(decimal), whole));
  if (entity !== undefined) return one(entities[entity] ?? whole);
  if (plain !== undefined) return one(controls[plain] ?? plain);
  return charactersOf(whole);
}

function character(code: number, otherwise: string): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : otherwise;
}

/** The characters of a run of bytes: in UTF-8, and in Latin-1 if they cannot be that. */
function charactersOf(run: string): readonly Piece[] {
  const bytes = [...run.matchAll(byte)].map(([{ length }, hex, octal]) => {
    const value = hex === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(hex, 16);
    return { value, length };
  });
  const pieces: Piece[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at]?.value ?? 0;
    const count = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const some = bytes.slice(at, at + count);
    const encoded = Buffer.from(some.map(({ value }) => value));
    const text = encoded.toString("utf8");
    const isOne = first < 0x80 || (count > 1 && encoded.equals(Buffer.from(text, "utf8")));
    const taken = isOne ? some : some.slice(0, 1);
    const length = taken.reduce((sum, { length: part }) => sum + part, 0);
    pieces.push([isOne ? text : String.fromCharCode(first), length]);
    at += taken.length;
  }
  return pieces;
}

/** Quotes that are doubled, and what is not of ASCII. */
const unfolded = /''+|""+|[^\0-\x7f]/gu;

/** Small letters, accents after their letters, `+` as the blank that forms write so, and quotes that are doubled (SQL, CSV, shells) once. */
function fold(reading: Reading): Reading {
  const plain = rewritten(reading, unfolded, ([found]) => [
    [
      found.startsWith("'") || found.startsWith('"') ? found.charAt(0) : small(found.normalize("NFD")),
      found.length,
    ],
  ]);
  return { ...plain, text: plain.text.replace(/[A-Z]+/g, small).replaceAll("+", " ") };
}

/** A reading without its line breaks and the blanks behind them, as it was before it was wrapped. */
export function unwrapped(reading: Reading): Reading {
  return rewritten(reading, /\r?\n[ \t]*/g, ([found]) => [["", found.length]]);
}

function small(text: string): string {
  return text.toLowerCase();
}

/** A reading in which the pieces of each match are replaced by their meanings; the same reading without a match. */
function rewritten(
  reading: Reading,
  pattern: RegExp,
  piecesOf: (match: RegExpExecArray) => readonly Piece[],
): Reading {
  const [texts, starts, ends]: [string[], number[], number[]] = [[], [], []];
  let at = 0;
  const copy = (to: number): void => {
    texts.push(reading.text.slice(at, to));
    for (; at < to; at += 1) {
      starts.push(reading.starts[at] ?? 0);
      ends.push(reading.ends[at] ?? 0);
    }
  };
  for (const match of reading.text.matchAll(pattern)) {
    copy(match.index);
    for (const [meaning, length] of piecesOf(match)) {
      const [start = 0, end = 0] = [reading.starts[at], reading.ends[at + length - 1]];
      texts.push(meaning);
      for (let unit = meaning.length; unit > 0; unit -= 1) {
        starts.push(start);
        ends.push(end);
      }
      at += length;
    }
  }
  if (at === 0) return reading;
  copy(reading.text.length);
  return { text: texts.join(""), starts, ends };
}
