/** @module Writes a state as text: one line for each resource, sorted. */
import type { StateDocument } from "../model/state.ts";

/** A document as it is written: version 3 says that what happened since is in the log beside it. */
export type StoredDocument = Omit<StateDocument, "version"> & { readonly version: 2 | 3 };

/**
 * Turns versions of a state into text, one line per resource, addresses sorted. Remembers the line of every entry
 * that did not change since, so that a small change of a large state is cheap.
 */
export function stateFormatter(): (state: StoredDocument) => string {
  const lines = new WeakMap<object, string>();
  const line = (entry: object): string => {
    const known = lines.get(entry);
    if (known !== undefined) return known;
    const fresh = JSON.stringify(entry);
    lines.set(entry, fresh);
    return fresh;
  };
  const map = (entries: { readonly [key: string]: object }): string => {
    const keys = Object.keys(entries).sort();
    if (keys.length === 0) return "{}";
    return `{\n${keys.map((key) => `    ${JSON.stringify(key)}: ${line(entries[key] ?? {})}`).join(",\n")}\n  }`;
  };
  return ({ resources, intents, rounds, outputs, ...head }) => {
    const members = Object.entries(head).map(
      ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
    );
    members.push(
      `  "resources": ${map(resources)}`,
      `  "intents": ${map(intents)}`,
      `  "rounds": ${map(rounds)}`,
      `  "outputs": ${map(outputs)}`,
    );
    return `{\n${members.join(",\n")}\n}\n`;
  };
}
