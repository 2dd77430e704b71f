/**
 * The entry of a name that came from a person or a service, and nothing that every object has: `constructor` and
 * `toString` are names like any other.
 */
export function own<T>(entries: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}
