/** A choice of numbers that depends on the seed alone. */
export interface Chance {
  one<T>(...choices: readonly [T, ...(readonly T[])]): T;
  /** True in this share of all seeds. */
  often(share: number): boolean;
}

/** The choices of a seed. */
export function chanceOf(seed: number): Chance {
  let state = seed * 2654435761;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    one: (first, ...others) => [first, ...others][Math.floor(next() * (others.length + 1))] ?? first,
    often: (share) => next() < share,
  };
}

/** How a service answers where its API description leaves it open. */
export interface Habits {
  readonly catalogue: "whole" | "403" | "404" | "500" | "{}" | "null" | "[]";
  readonly everything: "whole" | "403" | "{}" | "null" | "bare";
  readonly emptyList: "absent" | "null" | "[]";
  readonly numbersAsText: boolean;
  readonly nulls: boolean;
  readonly unknown: boolean;
  readonly accepted: "" | "{}" | "null";
  readonly tags: "top" | "metadata" | "both";
  readonly times: boolean;
  readonly subscription: boolean;
  readonly resource: boolean;
  readonly topology: "map" | "list";
  /** Looks that still show the passing status after an operation. */
  readonly passing: number;
  readonly passingStatus: "DEPLOYING" | "PENDING" | "CHARGING";
  readonly launch: boolean;
  readonly token: "token" | "jwtToken";
  readonly page: "absent" | "null" | "empty";
  readonly lowercase: boolean;
}

/** The habits of a seed. */
export function habitsOf({ one, often }: Chance): Habits {
  return {
    catalogue: one("whole", "whole", "403", "404", "500", "{}", "null", "[]"),
    everything: one("whole", "whole", "403", "{}", "null", "bare"),
    emptyList: one("absent", "null", "[]"),
    numbersAsText: often(0.5),
    nulls: often(0.5),
    unknown: often(0.7),
    accepted: one("", "{}", "null"),
    tags: one("top", "metadata", "both"),
    times: often(0.8),
    subscription: often(0.8),
    resource: often(0.8),
    topology: one("map", "map", "list"),
    passing: one(0, 1, 3),
    passingStatus: one("DEPLOYING", "PENDING", "CHARGING"),
    launch: often(0.2),
    token: one("token", "jwtToken"),
    page: one("absent", "null", "empty"),
    lowercase: often(0.2),
  };
}

/** The entries in another order every time. */
export function shuffled<T>(list: readonly T[]): readonly T[] {
  const ranked = list.map((entry) => [Math.random(), entry] as const);
  return ranked.sort(([left], [right]) => left - right).map(([, entry]) => entry);
}
