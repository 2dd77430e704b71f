/** @module Computes a value once for each object or text that it is made from. */

/** Returns a function that keeps the result of `make` as long as the object lives. */
export function perObject<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly made: V }>();
  return (key) => {
    const kept = known.get(key);
    if (kept !== undefined) return kept.made;
    const made = make(key);
    known.set(key, { made });
    return made;
  };
}

/** The same for texts of which there are few, such as the paths of a profile. */
export function perText<V>(make: (text: string) => V): (text: string) => V {
  const known = new Map<string, { readonly made: V }>();
  return (text) => {
    const kept = known.get(text) ?? { made: make(text) };
    known.set(text, kept);
    return kept.made;
  };
}
