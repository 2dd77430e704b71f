/** @module Suggests the words that a misspelt one probably stands for. */
/** The candidate with the fewest typing mistakes; undefined where all have too many for the length of the word. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > longestWord) return undefined;
  const wanted = word.toLowerCase();
  const letters = lettersOf(wanted);
  let best: string | undefined;
  let slips = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates.slice(0, mostCompared)) {
    if (Math.abs(candidate.length - word.length) >= slips) continue;
    const lower = candidate.toLowerCase();
    if (fewestSlips(letters, lettersOf(lower)) >= slips) continue;
    const distance = slipsBetween(wanted, lower, slips);
    if (distance >= slips) continue;
    best = candidate;
    slips = distance;
  }
  return best;
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
  const shown = candidates.slice(0, longest);
  const rest = candidates.length - shown.length;
  return `${what}: ${shown.join(", ")}${rest === 0 ? "" : `, and ${rest} more`}`;
}

const longest = 24;

/** Nobody mistypes longer words, and comparing them costs the product of their lengths. */
const longestWord = 64;
const mostCompared = 1000;

/** The letters of a word, one bit for each of thirty-two sorts. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

/** No fewer than this: each letter that one word has alone takes a slip. */
function fewestSlips(left: number, right: number): number {
  return Math.max(bitsOf(left & ~right), bitsOf(right & ~left));
}

function bitsOf(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** Insertions, deletions, exchanges and swaps of neighbours between two words; counted no further than to `most`. */
function slipsBetween(left: string, right: string, most: number): number {
  const width = right.length + 1;
  // Three rows, reused in rotation: the current one and the two before it.
  const cells = new Uint16Array(3 * width);
  const at = (row: number, column: number): number => cells[(row % 3) * width + column] ?? 0;
  for (let column = 0; column < width; column += 1) cells[column] = column;
  let leastBefore = 0;
  for (let row = 1; row <= left.length; row += 1) {
    let leastHere = row;
    cells[(row % 3) * width] = row;
    for (let column = 1; column < width; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let least = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) least = Math.min(least, at(row - 2, column - 2) + 1);
      cells[(row % 3) * width + column] = least;
      if (least < leastHere) leastHere = least;
    }
    // A swap reaches back two rows: where both are at the limit, no later row can be below it.
    if (leastHere >= most && leastBefore >= most) return most;
    leastBefore = leastHere;
  }
  return at(left.length, right.length);
}
