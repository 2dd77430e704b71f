/** @module Suggests the words that a misspelt one probably stands for. */
import { closestMatch } from "leven";

/** Longer words are not typed by hand, and comparing them costs the product of their lengths. */
const maxWord = 64;
const maxCompared = 1000;
const maxListed = 24;

/** The candidate with the fewest typing mistakes; undefined if all have too many for the length of the word. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word === "" || word.length > maxWord) return undefined;
  const wanted = word.toLowerCase();
  const spelt = new Map(candidates.slice(0, maxCompared).map((known) => [known.toLowerCase(), known]));
  const words = [...spelt.keys()];
  const letters = lettersOf(wanted);
  // The distance counts swapped letters as two mistakes.
  const swapped = words.find((known) => known.length === wanted.length && lettersOf(known) === letters);
  const maxDistance = Math.max(1, Math.floor(word.length / 3));
  return spelt.get(wanted) ?? spelt.get(swapped ?? closestMatch(wanted, words, { maxDistance }) ?? "");
}

function lettersOf(word: string): string {
  return [...word].sort().join("");
}

/** A hint for a wrong word: the nearest right one, then the list of all. */
export function suggest(word: string, candidates: readonly string[], what = "allowed"): string {
  const near = nearest(word, candidates);
  const list = listed(candidates, what);
  return near === undefined ? list : `did you mean "${near}"? ${list}`;
}

/** `allowed: a, b, c`, cut after a dozen. */
export function listed(candidates: readonly string[], what = "allowed"): string {
  if (candidates.length === 0) return `${what}: none`;
  const shown = candidates.slice(0, maxListed);
  const rest = candidates.length - shown.length;
  return `${what}: ${shown.join(", ")}${rest === 0 ? "" : `, and ${rest} more`}`;
}
