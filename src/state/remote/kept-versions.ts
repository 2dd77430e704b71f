/** @module Compares what a shared store shows with the versions that it still has: a document that was lost, or replaced by an older one. */
import { GraphformError, isGraphformError, shellWord } from "../../model/errors.ts";
import { knowsNothing } from "../../model/observed.ts";
import type { StateDocument } from "../../model/state.ts";
import type { KeptVersion, StateDriver } from "./driver.ts";
import { readStored } from "./read-stored.ts";
import { isUnreachable } from "./store-retry.ts";

/** Versions that are looked at: the newest one is mostly the stored document itself. */
const looked = 3;

/**
 * Reads the state until nothing that is kept contradicts it. Throws `state-gone` where nothing is stored, or only what a takeover has
 * written, and versions with a higher serial are kept; and `state-older` where one of them is of the same history. A store that keeps
 * none, or shows them to nobody, is not known to have any.
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
    // Otherwise somebody has written between the two looks.
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

function gone(where: string, { id, serial, savedAt }: KeptVersion): GraphformError {
  return new GraphformError(
    "state-gone",
    `the state ${where} is gone, and the store still has version ${serial} of ${savedAt}: with nothing remembered everything would be made again`,
    {
      hint: `put it back: graphform state restore ${shellWord(id)}; to begin with nothing: graphform state restore none`,
    },
  );
}

function older(where: string, stored: number, { id, serial, savedAt }: KeptVersion): GraphformError {
  return new GraphformError(
    "state-older",
    `the state ${where} is at version ${stored}, and the store still has version ${serial} of ${savedAt}: an older copy was put in its place`,
    {
      hint: `put the newest one back: graphform state restore ${shellWord(id)}; to go on with the older one: graphform state restore current, then bind what was made since with graphform import`,
    },
  );
}
