/** @module Creates, numbers and formats the versions of a state. */
import { createHash, randomUUID } from "node:crypto";
import { objectIn, textIn } from "../model/json.ts";
import { perObject } from "../model/once.ts";
import type { StateDocument } from "../model/state.ts";
import { newKey } from "./vault.ts";

/** SHA-256 in hex. */
export function digestOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The parts of a state that never change. The key is in no other file. */
export interface Birth {
  readonly lineage: string;
  readonly key: string;
}

/** A state that was never written: serial 0. The first version to be written is `nextVersion` of it. */
export function emptyState(
  name: string,
  birth: Birth = { lineage: randomUUID(), key: newKey() },
): StateDocument {
  const head = { version: 2, name, lineage: birth.lineage, serial: 0, key: birth.key } as const;
  const tables = { resources: {}, intents: {}, rounds: {}, appliedPlans: [], outputs: {} };
  return { ...head, savedAt: "1970-01-01T00:00:00.000Z", ...tables };
}

export type VersionId = Pick<StateDocument, "lineage" | "serial">;

export function versionIdOf({ lineage, serial }: VersionId): VersionId {
  return { lineage, serial };
}

/** The version that a text names; without lineage, and 0, if it names none. */
export function versionIn(text: string): VersionId {
  const { lineage, serial } = objectIn(text) ?? {};
  return { lineage: textIn(lineage) ?? "", serial: Number.isSafeInteger(serial) ? Number(serial) : 0 };
}

/** True if a version is the next one; the first of all follows nothing. */
export function follows(previous: VersionId | undefined, next: VersionId): boolean {
  return next.serial - 1 === (previous?.serial ?? 0) && (previous ?? next).lineage === next.lineage;
}

/** Serial and time of the version after another one. `now` in ms since 1970. */
export function nextVersion(
  { serial }: Pick<StateDocument, "serial">,
  now: number,
): Pick<StateDocument, "serial" | "savedAt"> {
  return { serial: serial + 1, savedAt: new Date(now).toISOString() };
}

export function isPlanApplied(state: StateDocument, fingerprint: string): boolean {
  return state.appliedPlans.includes(fingerprint);
}

/** A document as it is written. Version 3: later events are in the log beside it. */
type StoredDocument = Omit<StateDocument, "version"> & { readonly version: 2 | 3 };

/** Formats versions of a state, one line per entry, addresses sorted. Keeps the lines of unchanged entries: a small change is cheap. */
export function stateFormatter(): (state: StoredDocument) => string {
  const line = perObject((entry: object) => JSON.stringify(entry));
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
