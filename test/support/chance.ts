/** Chance that a seed decides: one seed, one sequence. */
export interface Chance {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [low, high]. */
  between(low: number, high: number): number;
  /** True with this probability. */
  is(probability: number): boolean;
  /** One of them. Throws where there is none. */
  of<T>(list: readonly T[]): T;
  /** A number between low and high whose logarithm is spread evenly: small ones are as likely as large ones. */
  scale(low: number, high: number): number;
}

/** Chance from a seed (Mulberry32). */
export function chance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    is: (probability) => next() < probability,
    of(list) {
      const found = list[between(0, list.length - 1)];
      if (found === undefined) throw new Error("nothing to choose from");
      return found;
    },
    scale: (low, high) => low * (high / low) ** next(),
  };
}
