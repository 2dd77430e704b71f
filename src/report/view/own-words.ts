/** @module Replaces the words that only one resource has in its texts, so that equal changes of many are recognized. */
import { parseAddress } from "../../model/address.ts";
import { shellWord } from "../../model/errors.ts";
import type { Change } from "../../model/plan.ts";

/** Rewrites a text of one change. */
export type Rewrite = (text: string) => string;

/** Words that one resource has, with their placeholders: address, former address and id, forEach key and name. */
export type OwnWords = { readonly [placeholder in Placeholder]: string | undefined };

type Placeholder = "PREVIOUS" | "ADDRESS" | "ID" | "KEY" | "NAME";

/** The words of one resource. */
export function ownWords({
  address,
  id,
  previousAddress,
  mayBe,
}: Pick<Change<unknown>, "address" | "id" | "previousAddress" | "mayBe">): OwnWords {
  const parts = parseAddress(address);
  const only = mayBe?.count === 1 ? mayBe.ids[0] : undefined;
  return { PREVIOUS: previousAddress, ADDRESS: address, ID: id ?? only, KEY: parts?.key, NAME: parts?.name };
}

/** The words in which these resources differ, as the first of them has them. */
export function differingWords([first, ...others]: readonly OwnWords[]): OwnWords {
  const differs = (name: Placeholder): string | undefined =>
    others.some((other) => other[name] !== first?.[name]) ? first?.[name] : undefined;
  return {
    PREVIOUS: differs("PREVIOUS"),
    ADDRESS: differs("ADDRESS"),
    ID: differs("ID"),
    KEY: differs("KEY"),
    NAME: differs("NAME"),
  };
}

/**
 * Rewrites sentences so that those are equal that differ in the identity of the resource alone: `--allow-destroy networks.a` and
 * `--allow-destroy networks.b`.
 */
export function inSentence({ PREVIOUS, ADDRESS, ID }: OwnWords): Rewrite {
  return rewriteOf({ PREVIOUS, ADDRESS, ID });
}

/** Rewrites values; key and name are replaced as well: `cache-eu` becomes `cache-KEY`. */
export function inValue(words: OwnWords): Rewrite {
  return rewriteOf(words);
}

function rewriteOf(words: Partial<OwnWords>): Rewrite {
  const known = Object.entries(words).flatMap(([name, word]) =>
    word === undefined || word === "" ? [] : spellingsOf(word).map((spelling) => [spelling, name] as const),
  );
  return (text) => known.reduce((rest, [word, name]) => replaceWord(rest, word, name), text);
}

/** A word as it stands in a command line, and as it is. */
function spellingsOf(word: string): readonly string[] {
  return [...new Set([shellWord(word), word])];
}

/** Replaces a word wherever it is not part of a longer one. (A pattern for each resource would take long to compile.) */
function replaceWord(text: string, word: string, name: string): string {
  const [first = "", ...rest] = text.split(word);
  return rest.reduce((before, after) => {
    const isWhole = !(endsInWord.test(before) || startsWithWord.test(after));
    return before + (isWhole ? name : word) + after;
  }, first);
}

const endsInWord = /[\p{L}\p{N}]$/u;
const startsWithWord = /^[\p{L}\p{N}]/u;
