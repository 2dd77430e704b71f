/** @module Reads a document of a shared store, strictly, and compares it with the versions that the store still has. */
import { GraphformError, isGraphformError, shellWord } from "../../model/errors.ts";
import { knowsNothing } from "../../model/observed.ts";
import type { StateDocument } from "../../model/state.ts";
import { readState } from "../read-state.ts";
import type { StoredVersion } from "../store.ts";
import type { StateDriver } from "./driver.ts";
import { isUnreachable } from "./store-retry.ts";

/** Codes whose usual remedy names files beside the state. */
const aboutFiles = ["state-truncated", "state-foreign"];

/** Throws as `readState` does. */
export function readStored(text: string, where: string, name: string): StateDocument {
  try {
    return readState(text, where, name);
  } catch (error) {
    if (!isGraphformError(error) || !aboutFiles.includes(error.code)) throw error;
    throw new GraphformError(error.code, error.message, {
      hint: "it was left as it is; graphform state history shows the versions before it, if the store keeps them",
      cause: error,
    });
  }
}

/** The state in a text; undefined if there is none, or one that `readState` refuses. */
export function readableState(
  text: string | undefined,
  where: string,
  name: string,
): StateDocument | undefined {
  try {
    return text === undefined ? undefined : readState(text, where, name);
  } catch {
    return undefined;
  }
}

/** Versions that are looked at: the newest one is mostly the stored document itself. */
const looked = 3;

/**
 * Reads the state until no kept version contradicts it. If one with a higher serial is kept, throws `state-gone` if nothing is stored, or
 * only what a takeover has written, and `state-older` if it is of the same history.
 */
export async function readNewest(
  driver: StateDriver,
  load: () => Promise<StateDocument | undefined>,
  name: string,
): Promise<StateDocument | undefined> {
  let state = await load();
  for (;;) {
    const refusal = await contradiction(driver, state, name);
    if (refusal === undefined) return state;
    const before = state?.serial;
    state = await load();
    // Otherwise another run has written between the two looks.
    if (state?.serial === before) throw refusal;
  }
}

async function contradiction(
  driver: StateDriver,
  state: StateDocument | undefined,
  name: string,
): Promise<GraphformError | undefined> {
  const versions = await driver.history(looked).catch((error: unknown) => {
    if (!isGraphformError(error) || (state === undefined && isUnreachable(error))) throw error;
    return undefined;
  });
  const newer = (versions ?? []).filter(({ serial }) => serial > (state?.serial ?? 0));
  const [newest] = newer.sort((a, b) => b.serial - a.serial);
  if (newest === undefined) return undefined;
  if (state === undefined || knowsNothing(state)) return gone(driver.where, newest);
  const kept = readStored(await driver.readVersion(newest.id), driver.where, name);
  return kept.lineage === state.lineage ? older(driver.where, state.serial, newest) : undefined;
}

function gone(where: string, { id, serial, savedAt }: StoredVersion): GraphformError {
  const message = `the state ${where} is gone, and the store still has version ${serial} of ${savedAt}: with nothing remembered everything would be made again`;
  const hint = `put it back: graphform state restore ${shellWord(id)}; to begin with nothing: graphform state restore none`;
  return new GraphformError("state-gone", message, { hint });
}

function older(where: string, stored: number, { id, serial, savedAt }: StoredVersion): GraphformError {
  const message = `the state ${where} is at version ${stored}, and the store still has version ${serial} of ${savedAt}: an older copy was put in its place`;
  const hint = `put the newest one back: graphform state restore ${shellWord(id)}; to go on with the older one: graphform state restore current, then bind objects made since with graphform import`;
  return new GraphformError("state-older", message, { hint });
}
