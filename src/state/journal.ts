import type { Clock } from "../model/clock.ts";
import type { Journal } from "../model/journal.ts";
import type { StateDocument } from "../model/state.ts";
import {
  advance,
  announceIntent,
  bindResource,
  burnPlan,
  dropIntent,
  markBegun,
  markConverging,
  markSettled,
  markUnsettled,
  moveResource,
  releaseResource,
  resolveIntent,
  setOutputs,
} from "./document.ts";
import type { StateStore } from "./store.ts";

/**
 * The journal of a run over a store: one line of versions, however many steps write at once. An entry changes the
 * newest version at once and resolves when it is durable; one that changes nothing writes nothing.
 */
export function openJournal(store: Pick<StateStore, "write">, initial: StateDocument, clock: Clock): Journal {
  let newest = initial;
  const enter = async (change: (state: StateDocument) => StateDocument): Promise<void> => {
    const next = change(newest);
    if (next === newest) return;
    newest = advance(next, clock.now());
    await store.write(newest);
  };
  return {
    get state(): StateDocument {
      return newest;
    },
    announce: (address, intent) => enter((state) => announceIntent(state, address, intent)),
    acknowledge: (address, found) => enter((state) => resolveIntent(state, address, found)),
    abandon: (address) => enter((state) => dropIntent(state, address)),
    bind: (address, bound) => enter((state) => bindResource(state, address, bound)),
    begins: (address, paths) => enter((state) => markBegun(state, address, paths, clock.now())),
    accepted: (address, converging) => enter((state) => markConverging(state, address, converging)),
    settled: (address) => enter((state) => markSettled(state, address)),
    unsettled: (address) => enter((state) => markUnsettled(state, address)),
    release: (address) => enter((state) => releaseResource(state, address)),
    move: (from, to) => enter((state) => moveResource(state, from, to)),
    burn: (fingerprint) => enter((state) => burnPlan(state, fingerprint)),
    outputs: (outputs) => enter((state) => setOutputs(state, outputs)),
  };
}
