/** @module Finds the secrets of a run in the words of others: answers, exceptions, names of holders, databases. */
import { type Reading, readingsOf, unwrapped } from "./readings.ts";
import { sensitive } from "./sealed.ts";

/** Hides what is secret in a text of others. */
export type Hide = (text: string) => string;

/** The secrets of a run, as far as they are known by now. */
export interface KnownSecrets {
  /** Adds texts: from now on they are found. Empty ones and absent ones are left out. */
  add(texts: Iterable<string | undefined>): void;
  /**
   * Adds what a service shows as a secret and no manifest declares. A short one withholds only texts in which it stands as a word by itself;
   * fewer than three characters, and signs without a letter or digit, are what services show instead of a secret.
   */
  see(texts: Iterable<string>): void;
  /**
   * Hides these secrets, and logins such as `user:password@host`; withholds a text with a secret that is too short to be told from other
   * words. Call it after a text was classified, and before it is cut.
   */
  readonly hide: Hide;
}

/** Shorter secrets occur in other words by chance. */
const shortest = 6;

/** Shorter texts are no secrets that a service shows. */
const shortestSeen = 3;

const withheld = "(withheld: it repeats a secret)";

/**
 * Finds secrets, and their single lines, in any case, across line breaks, and in these spellings: escaped for JSON, URLs, HTML, shells and
 * languages however often; in hex and in base64 at any offset, by themselves and as JSON, URLs and forms escape them. Other encodings are not
 * read, such as base64 of base64 or of UTF-16, quoted-printable, and lists of bytes. Takes time in proportion to the text, however many secrets there are.
 */
export function knownSecrets(): KnownSecrets {
  const [all, unread] = [new Set<string>(), new Set<string>()];
  const index = new Map<string, Map<number, Set<string>>>();
  const [short, words] = [new Set<string>(), new Set<string>()];
  const learn = (text: string): void => {
    if (text.length < shortest) {
      for (const reading of readingsOf(text)) short.add(reading.text);
      return;
    }
    const lines = text.split(/\r?\n/).filter((line) => line.length > 7);
    for (const form of [text, ...lines].flatMap(formsOf)) {
      const head = form.slice(0, shortest);
      if (head.length < shortest) continue;
      const lengths = index.get(head) ?? new Map<number, Set<string>>();
      index.set(head, lengths.set(form.length, (lengths.get(form.length) ?? new Set()).add(form)));
    }
  };
  const add = (text: string): void => {
    if (!all.has(text)) unread.add(text);
    all.add(text);
  };
  return {
    add(texts) {
      for (const text of texts) if (text !== undefined && text !== "") add(text);
    },
    see(texts) {
      for (const text of texts) {
        if (text.length < shortestSeen || !/[\p{L}\p{N}]/u.test(text)) continue;
        if (text.length >= shortest) add(text);
        else for (const reading of readingsOf(text)) words.add(reading.text);
      }
    },
    hide(text) {
      // Most runs hide nothing, and a fleet shows many secrets: their forms are made when they are needed.
      for (const secret of unread) learn(secret);
      unread.clear();
      if (all.size + words.size === 0) return withoutLogins(text);
      const readings = readingsOf(text);
      for (const form of short) if (readings.some((reading) => reading.text.includes(form))) return withheld;
      for (const word of words)
        if (readings.some((reading) => standsApart(word, reading.text))) return withheld;
      const joined = readings.slice(-1).map(unwrapped);
      const ranges = [...readings, ...joined].flatMap((reading) => rangesIn(reading, index));
      return withoutLogins(withoutRanges(text, ranges));
    },
  };
}

/** First characters of a form -> the forms that begin so, by their length. */
type Index = ReadonlyMap<string, ReadonlyMap<number, ReadonlySet<string>>>;

type Range = readonly [start: number, end: number];

/** True if a word stands in a text with no letter or digit beside it. */
function standsApart(word: string, text: string): boolean {
  const pieces = text.split(word);
  return pieces.some(
    (piece, at) => at > 0 && !/[\p{L}\p{N}]$/u.test(pieces[at - 1] ?? "") && !/^[\p{L}\p{N}]/u.test(piece),
  );
}

/** The places of forms in the original of a reading. */
function rangesIn({ text, starts, ends }: Reading, index: Index): readonly Range[] {
  const ranges: Range[] = [];
  for (let at = 0; at <= text.length - shortest; ) {
    const length = formAt(text, at, index);
    if (length > 0) ranges.push([starts[at] ?? 0, ends[at + length - 1] ?? 0]);
    at += Math.max(length, 1);
  }
  return ranges;
}

/** The length of the longest form that stands here; 0 if none does. */
function formAt(text: string, at: number, index: Index): number {
  let longest = 0;
  for (const [length, forms] of index.get(text.slice(at, at + shortest)) ?? [])
    if (length > longest && forms.has(text.slice(at, at + length))) longest = length;
  return longest;
}

/** The text with one mark for each range, and for ranges that overlap. */
function withoutRanges(text: string, ranges: readonly Range[]): string {
  let [shown, from] = ["", 0];
  for (const [start, end] of ranges.toSorted(([one], [other]) => one - other)) {
    if (start >= from) shown += text.slice(from, start) + sensitive;
    from = Math.max(from, end);
  }
  return shown + text.slice(from);
}

/** The texts that readings hold if the secret stands in their original. */
function formsOf(text: string): readonly string[] {
  const encoded = [...escapedOf(text)].flatMap((each) => [
    Buffer.from(each).toString("hex"),
    ...base64(each),
  ]);
  return [text, ...encoded].flatMap((each) => readingsOf(each).map((reading) => reading.text));
}

/** A text as it stands in a body that is encoded as a whole: by itself, in JSON, also as Go writes it, in an address and in a form. */
function escapedOf(text: string): ReadonlySet<string> {
  const json = JSON.stringify(text).slice(1, -1);
  const go = json.replace(/[&<>]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const form = new URLSearchParams({ "": text }).toString().slice(1);
  return new Set([text, json, go, encodeURIComponent(text.toWellFormed()), form]);
}

/** The characters of base64 that depend on the text alone, for each of the three offsets that it may start at. */
function base64(text: string): readonly string[] {
  const bytes = Buffer.from(text, "utf8");
  const cores = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  return cores.flatMap((core) => [core, core.replaceAll("+", "-").replaceAll("/", "_")]);
}

/** Hides each word that reads like `user:password@host`: a service shows the address of its own monitoring so. */
function withoutLogins(text: string): string {
  if (!text.includes("@")) return text;
  return text
    .split(/([\s"'<>()]+)/)
    .map((word) => {
      const at = word.lastIndexOf("@");
      const login = word.slice(0, Math.max(at, 0)).replace(/^[a-z][a-z0-9+.-]{0,20}:\/\//i, "");
      return login.includes(":") ? sensitive : word;
    })
    .join("");
}
