/** @module Finds the secrets of a run in the words of others: answers, exceptions, names of holders, databases. */
import { sensitive } from "./sealed.ts";

/** Hides what is secret in a text of others. */
export type Hide = (text: string) => string;

/** The secrets of a run, as far as they are known by now. */
export interface KnownSecrets {
  /** Adds texts: from now on they are found. Empty ones and absent ones are left out. */
  add(texts: Iterable<string | undefined>): void;
  /**
   * The words of others without these secrets, and without logins such as `user:password@host`; withheld as a whole if a secret
   * stands in them that is too short to be told from other words. Call it after a text was classified, and before it is cut.
   */
  readonly hide: Hide;
}

/** Shorter secrets stand in other words by chance. */
const shortest = 6;

const withheld = "(withheld: it repeats a secret)";

/**
 * Finds secrets in any case: as they are, as they stand in JSON, in a URL, in HTML, in hex, in base64 at any offset, and their single
 * lines if they have several. Takes time in proportion to the text, however many secrets there are.
 */
export function knownSecrets(): KnownSecrets {
  const all = new Set<string>();
  const index = new Map<string, Map<number, Set<string>>>();
  const short = new Set<string>();
  const learn = (text: string): void => {
    if (text.length < shortest) {
      for (const form of spellingsOf(text)) short.add(fold(form));
      return;
    }
    const lines = text.split(/\r?\n/).filter((line) => line.length > 7);
    for (const form of new Set([text, ...lines].flatMap(formsOf).map(fold))) {
      const head = form.slice(0, shortest);
      if (head.length < shortest) continue;
      const lengths = index.get(head) ?? new Map<number, Set<string>>();
      index.set(head, lengths.set(form.length, (lengths.get(form.length) ?? new Set()).add(form)));
    }
  };
  return {
    add(texts) {
      for (const text of texts) {
        if (text === undefined || text === "" || all.has(text)) continue;
        all.add(text);
        learn(text);
      }
    },
    hide(text) {
      const folded = fold(text);
      for (const form of short) if (folded.includes(form)) return withheld;
      return withoutLogins(index.size === 0 ? text : withoutForms(text, folded, index));
    },
  };
}

/** First characters of a form -> the forms that begin so, by their length. */
type Index = ReadonlyMap<string, ReadonlyMap<number, ReadonlySet<string>>>;

function withoutForms(text: string, folded: string, index: Index): string {
  let shown = "";
  let from = 0;
  let at = 0;
  while (at <= folded.length - shortest) {
    const form = formAt(folded, at, index);
    if (form === 0) at += 1;
    else {
      shown += text.slice(from, at) + sensitive;
      at += form;
      from = at;
    }
  }
  return shown + text.slice(from);
}

/** The length of the longest form that stands here; 0 if none does. */
function formAt(folded: string, at: number, index: Index): number {
  let longest = 0;
  for (const [length, forms] of index.get(folded.slice(at, at + shortest)) ?? [])
    if (length > longest && forms.has(folded.slice(at, at + length))) longest = length;
  return longest;
}

/** A text in small letters, each at the place of its own. */
function fold(text: string): string {
  return text.replace(/\p{Lu}/gu, (letter) => {
    const small = letter.toLowerCase();
    return small.length === letter.length ? small : letter;
  });
}

function formsOf(text: string): readonly string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  const url = encodeURIComponent(text.toWellFormed());
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return [
    ...[text, quoted, JSON.stringify(quoted).slice(1, -1)],
    ...[url, strict, encodeURI(text.toWellFormed()), strict.replaceAll("%20", "+")],
    ...[escapeHtml(text), Buffer.from(text, "utf8").toString("hex")],
    ...base64(text),
  ];
}

/** Spellings of a very short secret. */
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
