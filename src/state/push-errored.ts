/** @module Stores what a run kept in a local file, where nobody has written since. */
import type { Clock } from "../model/clock.ts";
import { GraphformError } from "../model/errors.ts";
import type { ManifestIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { assertSameManifest } from "./claim-state.ts";
import { nextVersion, stateFormatter } from "./document.ts";
import {
  boundObjects,
  type ErroredState,
  type Standing,
  standingOf,
  stateToPush,
  unknownObjects,
} from "./errored-state.ts";
import { readState } from "./read-state.ts";
import { bindByHand, createdWords, lostState } from "./remote/unpushed.ts";
import type { KeptStore } from "./store.ts";

/** An errored state and its origin. */
export interface Push {
  readonly errored: ErroredState;
  /** Path of its file, for messages. */
  readonly file: string;
  /** Name of the manifest. */
  readonly name: string;
  readonly manifest: ManifestIdentity;
  readonly clock: Clock;
}

/** The stored state after it, and whether it had to be stored. */
export interface Pushed {
  readonly state: StateDocument;
  readonly isStored: boolean;
}

/** Stores it as the next version; the lock is held. Throws `push-refused` where the stored state has gone on without knowing its objects. */
export async function pushErrored(
  store: KeptStore,
  { errored, file, name, manifest, clock }: Push,
): Promise<Pushed> {
  assertSameManifest(errored.state, manifest, `of ${file}`);
  const { where } = store;
  const stored = await store.readText();
  const current = stored && readState(stored.text, where, name);
  const standing = standingOf(errored, current, where);
  if (standing === "known" && current !== undefined) return { state: current, isStored: false };
  const next = standing === "fits" ? stateToPush(errored, current) : undefined;
  if (next === undefined) throw refusal(standing, errored, current, file, where);
  const { serial } = next;
  const state = { ...next, ...nextVersion({ serial: serial - 1 }, clock.now()) };
  await store.replaceText(stateFormatter()(state), stored?.version);
  return { state, isStored: true };
}

function refusal(
  standing: Standing,
  errored: ErroredState,
  current: StateDocument | undefined,
  file: string,
  where: string,
): GraphformError {
  const unknown = unknownObjects(errored, current);
  if (standing === "elsewhere" || current?.lineage !== errored.state.lineage)
    return refused(
      file,
      current === undefined ? `nothing is stored at ${where}` : `${where} holds a state of another history`,
      errored.where === where
        ? lostState(file, boundObjects(errored))
        : `the run worked with the state at ${errored.where}: name that one with --state`,
    );
  return refused(
    file,
    `${where} was written to since that run, and does not know what it made: ${createdWords(unknown)}`,
    bindByHand(file, unknown),
  );
}

function refused(file: string, why: string, hint: string): GraphformError {
  return new GraphformError("push-refused", `${file} is not stored: ${why}`, { hint });
}
