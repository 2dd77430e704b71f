/** @module The first version of a state, and the step from one version to the next. */
import { randomUUID } from "node:crypto";
import type { StateDocument } from "../model/state.ts";
import { newKey } from "./vault.ts";

/** What stays the same through a state's whole history. Its key stands in no other file. */
export interface Birth {
  readonly lineage: string;
  readonly key: string;
}

/** A state that was never written: serial 0. The first version to be written is `advance` of it. */
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

/** The version to write: the serial one up. `now` in ms since 1970. */
export function advance(state: StateDocument, now: number): StateDocument {
  return { ...state, serial: state.serial + 1, savedAt: new Date(now).toISOString() };
}

/** True for a plan that was applied already. */
export function isPlanApplied(state: StateDocument, fingerprint: string): boolean {
  return state.appliedPlans.includes(fingerprint);
}
