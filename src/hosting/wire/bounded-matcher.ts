/** @module Tries patterns that the service gives: they are somebody else's, and one can be made to run for ever. */
import { runInNewContext } from "node:vm";

/** How a value stands to a pattern; `unread` where the pattern is none, or takes too long. */
export type Matching = "matches" | "differs" | "unread";

/** The time that one pattern gets for one value, in ms, and the length of a pattern that is tried at all. */
const [longestTry, longestPattern] = [100, 2000];

/**
 * Opens a matcher for one run. A pattern that took too long once is not tried again, so that the time for all of them is
 * bounded by how many there are.
 */
export function boundedMatcher(): (pattern: string, value: string) => Matching {
  const unread = new Set<string>();
  return (source, value) => {
    if (unread.has(source)) return "unread";
    try {
      if (source.length > longestPattern) throw new Error("too long");
      const pattern = new RegExp(source);
      // Only code inside of a context can be ended: matching ends with it.
      const sandbox = { pattern, value };
      const isMatch: unknown = runInNewContext("pattern.test(value)", sandbox, { timeout: longestTry });
      return isMatch === true ? "matches" : "differs";
    } catch {
      unread.add(source);
      return "unread";
    }
  };
}
