/** @module Reads a state for a look at the service, with what an earlier run on this machine could not store. */
import type { StateDocument } from "../model/state.ts";
import { escapeText } from "../report/escape.ts";
import type { StateStore } from "../state/store.ts";
import type { Terminal } from "./terminal.ts";

/**
 * The state as it will be after `state push`, where a local file fits the stored one, so that what stands in that file alone is
 * not planned once more; a plan that is saved from it cannot be applied before. Says so, or that a file is not counted in.
 */
export async function latestState(store: StateStore, terminal: Terminal): Promise<StateDocument | undefined> {
  const found = await store.unpushed?.();
  if (found === undefined) return store.read();
  const { refusal, state } = found;
  const counted =
    state === undefined ? "this does not count it in" : "this counts it in, and nothing is changed before";
  terminal.err(`warning: ${escapeText(`${refusal.message}; ${counted}; ${refusal.hint ?? ""}`, 4000)}\n`);
  return state ?? store.read();
}
