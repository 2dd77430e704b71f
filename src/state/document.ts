/** @module The first version of a state, and the step from one version to the next. */
import { randomUUID } from "node:crypto";
import type { StateDocument } from "../model/state.ts";
import { newKey } from "./vault.ts";

/** What stays the same through a state's whole history. Its key stands in no other file. */
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
export function follows(before: VersionId | undefined, next: VersionId): boolean {
  return next.serial - 1 === (before?.serial ?? 0) && (before ?? next).lineage === next.lineage;
}

/** What tells the version after another one from it: the serial is one up. `now` in ms since 1970. */
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
