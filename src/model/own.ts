/** @module Reads an own property of an object by a name from outside. */
/**
 * Returns the entry of a name from a person or a service. Ignores inherited properties: `constructor` and `toString` are
 * names like any other.
 */
export function own<T>(entries: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}
