/** The candidate that was probably meant: the fewest slips away, and few enough for the word's length. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > longestWord) return undefined;
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let slips = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates.slice(0, mostCompared)) {
    if (Math.abs(candidate.length - word.length) >= slips) continue;
    const distance = slipsBetween(wanted, candidate.toLowerCase());
    if (distance >= slips) continue;
    best = candidate;
    slips = distance;
  }
  return best;
}

/** A hint out of a wrong word and the right ones: the nearest first, then the list. */
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

/** Insertions, deletions, exchanges and swaps of neighbours between two words. */
function slipsBetween(left: string, right: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let least = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) least = Math.min(least, (before[column - 2] ?? 0) + 1);
      current.push(least);
    }
    before = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}
