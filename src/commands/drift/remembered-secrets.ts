/** @module Remembers the secrets that a run has read, so that none is asked for twice. */
import type { SecretText } from "../../manifest/secrets.ts";

/** Reads each secret once, whatever comes of it: a command that prints one may ask a person. */
export function rememberedSecrets(read: SecretText): SecretText {
  const known = new Map<string, ReturnType<SecretText>>();
  return (name, source) => {
    const key = JSON.stringify([name, source]);
    const before = known.get(key);
    if (before !== undefined) return before;
    const text = read(name, source);
    known.set(key, text);
    return text;
  };
}
