/** @module Parses memory sizes such as `6GB`. */
const powers: { readonly [letter: string]: number } = { "": 0, K: 1, M: 2, G: 3, T: 4 };

/** Bytes of a memory size: `6GB` and `6GiB` are 1024-based, `6G` is 1000-based; undefined for a malformed text. */
export function bytesOf(text: string): number | undefined {
  const [, amount, letter = "", suffix] = /^([0-9]+(?:\.[0-9]+)?)\s?([KMGT]?)(i?B?)$/.exec(text) ?? [];
  const power = powers[letter];
  if (amount === undefined || power === undefined) return undefined;
  return Math.round(Number(amount) * (suffix === "" ? 1000 : 1024) ** power);
}
