/** @module Replaces the words that only one resource has in its texts, so that equal changes of many are recognized. */
import { parseAddress } from "../../model/address.ts";
import type { Change } from "../../model/plan.ts";

/** Rewrites a text of one change. */
export type Rewrite = (text: string) => string;

/** Both ways to rewrite the texts of one change. Only whole words are replaced. */
export interface OwnWords {
  /** For sentences: address, former address and id become `ADDRESS`, `PREVIOUS` and `ID`. */
  readonly inSentence: Rewrite;
  /** For values: its forEach key and its name become `KEY` and `NAME` as well. */
  readonly inValue: Rewrite;
}

/**
 * Rewrites that make equal what differs in the words of the resource alone: `--allow-destroy networks.a` and
 * `--allow-destroy networks.b`.
 */
export function ownWords({ address, id, previousAddress }: Change): OwnWords {
  const parts = parseAddress(address);
  const identity: readonly Word[] = [
    [previousAddress, "PREVIOUS"],
    [address, "ADDRESS"],
    [id, "ID"],
  ];
  return {
    inSentence: rewriteOf(identity),
    inValue: rewriteOf([...identity, [parts?.key, "KEY"], [parts?.name, "NAME"]]),
  };
}

type Word = readonly [word: string | undefined, placeholder: string];

function rewriteOf(words: readonly Word[]): Rewrite {
  const known = words.flatMap(([word = "", name]) => (word === "" ? [] : [[word, name] as const]));
  return (text) => known.reduce((rest, [word, name]) => replaceWord(rest, word, name), text);
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
