/** @module Creates the first version of a state, and numbers the versions after it. */
import { randomUUID } from "node:crypto";
import type { StateDocument } from "../model/state.ts";
import { newKey } from "./vault.ts";

/** The parts of a state that never change. Its key is in no other file. */
export interface Birth {
  readonly lineage: string;
  readonly key: string;
}

/** A state that was never written: serial 0. The first version to be written is `nextVersion` of it. */
export function emptyState(
  name: string,
  birth: Birth = { lineage: randomUUID(), key: newKey() },
): StateDocument {
  const { lineage, key } = birth;
  const savedAt = "1970-01-01T00:00:00.000Z";
  return {
    version: 2,
    name,
    lineage,
    serial: 0,
    key,
    savedAt,
    resources: {},
    intents: {},
    rounds: {},
    appliedPlans: [],
    outputs: {},
  };
}

/** Which version of which history. */
export type VersionId = Pick<StateDocument, "lineage" | "serial">;

/** True where a version is the next one; the first of all follows nothing. */
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

/** True for a plan that was applied already. */
export function isPlanApplied(state: StateDocument, fingerprint: string): boolean {
  return state.appliedPlans.includes(fingerprint);
}
