/** @module Masks secrets in texts. */

/** Text in place of a secret. */
export const mask = "***";

/** Masks known secrets. */
export interface Masker {
  /** Masks every secret of four characters or more, in every spelling. For our own words, which hold none by themselves. */
  text(text: string): string;
  /** The same for the words of others; withholds them where a shorter secret stands in them, which would mask half of any text. */
  foreign(text: string): string;
}

/** Shorter secrets stand in other words by chance. */
const shortest = 4;

const withheld = "(withheld: it repeats a secret)";

/**
 * Hides these texts wherever they stand: as they are, as they stand in JSON, in a URL, in HTML, in hex, in base64 at any
 * offset, and their single lines where they have several. Knows what was added after it was made. Takes time in
 * proportion to the text, however many secrets there are. Cut texts at line ends: half a secret is not known.
 */
export function maskerOf(texts: () => ReadonlySet<string>): Masker {
  let count = 0;
  let known: Known = { index: new Map(), short: [] };
  const update = (): Known => {
    const all = texts();
    if (all.size !== count) {
      count = all.size;
      known = knownOf([...all]);
    }
    return known;
  };
  return {
    text: (text) => masked(text, update().index),
    foreign(text) {
      const { index, short } = update();
      return short.some((form) => text.includes(form)) ? withheld : masked(text, index);
    },
  };
}

/** First characters of a form -> the forms that begin so, by their length, longest first. */
type Index = ReadonlyMap<string, readonly (readonly [length: number, forms: ReadonlySet<string>])[]>;

interface Known {
  readonly index: Index;
  readonly short: readonly string[];
}

function knownOf(texts: readonly string[]): Known {
  const lines = texts.flatMap((text) => text.split(/\r?\n/).filter((line) => line.length > 7));
  const forms = new Set([...texts, ...lines].filter((text) => text.length >= shortest).flatMap(formsOf));
  const begins = new Map<string, Map<number, Set<string>>>();
  for (const form of forms) {
    const head = form.slice(0, shortest);
    const lengths = begins.get(head) ?? new Map<number, Set<string>>();
    begins.set(head, lengths.set(form.length, (lengths.get(form.length) ?? new Set()).add(form)));
  }
  const index = [...begins].map(
    ([head, lengths]) => [head, [...lengths].sort(([left], [right]) => right - left)] as const,
  );
  const short = texts.filter((text) => text !== "" && text.length < shortest);
  return { index: new Map(index), short: [...new Set(short.flatMap(spellingsOf))] };
}

function masked(text: string, index: Index): string {
  if (index.size === 0) return text;
  let shown = "";
  let from = 0;
  let at = 0;
  while (at <= text.length - shortest) {
    const form = formAt(text, at, index);
    if (form === 0) at += 1;
    else {
      shown += text.slice(from, at) + mask;
      at += form;
      from = at;
    }
  }
  return from === 0 ? text : shown + text.slice(from);
}

/** The length of the longest form that stands here; 0 where none does. */
function formAt(text: string, at: number, index: Index): number {
  const lengths = index.get(text.slice(at, at + shortest));
  return lengths?.find(([length, forms]) => forms.has(text.slice(at, at + length)))?.[0] ?? 0;
}

function formsOf(text: string): readonly string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  const url = encodeURIComponent(text.toWellFormed());
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const urls = [url, strict, encodeURI(text.toWellFormed()), strict.replaceAll("%20", "+")];
  const lower = urls.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  const hex = Buffer.from(text, "utf8").toString("hex");
  return [
    text,
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    ...urls,
    ...lower,
    escapeHtml(text),
    hex,
    ...base64(text),
  ];
}

/** Spellings of a very short secret that are searched for in texts of others. */
function spellingsOf(text: string): readonly string[] {
  return [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed()), escapeHtml(text)];
}

/** A secret as a page or a report in HTML shows it. */
function escapeHtml(text: string): string {
  const entities: { readonly [character: string]: string } = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
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
