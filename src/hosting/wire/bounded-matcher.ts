/** @module Matches patterns of the service with a time limit: such a pattern can be made to run without end. */
import { runInNewContext } from "node:vm";

/** Result of a match; `unread` where the pattern is invalid, or takes too long. */
export type PatternMatch = "matches" | "differs" | "unread";

/** The time that one pattern gets for one value, in ms, and the length of a pattern that is tried at all. */
const [longestTry, longestPattern] = [100, 2000];

/**
 * Opens a matcher for one run. A pattern that took too long is not tried again: the total time is bounded by the
 * number of patterns.
 */
export function boundedMatcher(): (pattern: string, value: string) => PatternMatch {
  const unread = new Set<string>();
  return (source, value) => {
    if (unread.has(source)) return "unread";
    try {
      if (source.length > longestPattern) throw new Error("too long");
      const pattern = new RegExp(source);
      // Only code in a context of its own can be stopped by a timeout.
      const sandbox = { pattern, value };
      const isMatch: unknown = runInNewContext("pattern.test(value)", sandbox, { timeout: longestTry });
      return isMatch === true ? "matches" : "differs";
    } catch {
      unread.add(source);
      return "unread";
    }
  };
}
