/** @module Remembers when a bound object, and each of its fields, was last seen as it ought to be. */
import { own } from "../model/json.ts";
import type { Bound, Converging } from "../model/state.ts";

/**
 * The times after an operation was seen to end at `at`. A create or an update brings the whole object to what is declared, but for
 * paths that it does not follow: these were right before, if ever. Any other operation proves no more than what it records.
 */
export function withTimes(
  bound: Bound,
  { operation, record }: Pick<Converging, "operation" | "record">,
  unmoved: readonly string[],
  at: string,
): Bound {
  if (operation !== "create" && operation !== "update") return withSeenRight(bound, Object.keys(record), at);
  const { seenRight = {}, ...rest } = bound;
  const before = unmoved.map((path): [string, string] => [
    path,
    own(seenRight, path) ?? bound.appliedAt ?? bound.createdAt,
  ]);
  const whole = { ...rest, appliedAt: at };
  return before.length === 0 ? whole : { ...whole, seenRight: Object.fromEntries(before) };
}

/** The same object with fields that were seen right at `at`. */
export function withSeenRight(bound: Bound, paths: readonly string[], at: string): Bound {
  if (paths.length === 0) return bound;
  const seen = Object.fromEntries(paths.map((path) => [path, at]));
  return { ...bound, seenRight: { ...bound.seenRight, ...seen } };
}
