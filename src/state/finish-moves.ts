/** @module Uses a state that was moved here as soon as its old place says so, and finishes the move of a run that was killed. */

import type { Clock } from "../model/clock.ts";
import { asError, GraphformError, isGraphformError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { StateDocument } from "../model/state.ts";
import { nextVersion, stateFormatter } from "./document.ts";
import type { KeptStore } from "./kept-store.ts";
import { type MovedDocument, movedDocument, refusalOf, stateMovedHere } from "./moved.ts";
import { readState } from "./read-state.ts";
import type { Lock } from "./store.ts";

/** Options of `finishingMoves`. */
export interface MoveSource {
  /** The manifest's name. */
  readonly name: string;
  readonly clock: Clock;
  /** The text at an address that a copy names as its old place; undefined where nothing is. */
  readonly textAt: (address: string) => Promise<string | undefined>;
}

/**
 * A store whose `read` looks at the old place where it finds a state that is being moved here. A tombstone of that move there
 * has decided it: the state is used, and under the lock it is put in place of its copy. Anything else there, or an old place
 * that cannot be read, is refused with `state-moving`.
 */
export function finishingMoves(store: KeptStore, source: MoveSource): KeptStore {
  let held: Lock | undefined;
  const finished = async (): Promise<StateDocument | undefined> => {
    const stored = await store.readText();
    const copy = stored && movedDocument(stored.text);
    // Somebody else has finished it meanwhile.
    if (stored === undefined || copy?.movingFrom === undefined) return store.read();
    const state = await decidedState(copy, store.where, source);
    if (held === undefined) return state;
    held.lost.throwIfAborted();
    const next = { ...state, ...nextVersion(state, source.clock.now()) };
    await store.replaceText(stateFormatter()(next), stored.version);
    return store.read();
  };
  return {
    ...store,
    get where() {
      return store.where;
    },
    async read(): Promise<StateDocument | undefined> {
      try {
        return await store.read();
      } catch (error) {
        if (!isGraphformError(error) || error.code !== "state-moving") throw error;
        return finished();
      }
    },
    async lock(operation, options): Promise<Lock> {
      const lock = await store.lock(operation, options);
      held = lock;
      const release = async (): Promise<void> => {
        if (held === lock) held = undefined;
        await lock.release();
      };
      return { ...lock, release };
    },
  };
}

/** The state in a copy, as any run reads it. Throws `state-moving`, and `state-moved` for a copy of a move that was given up. */
async function decidedState(
  copy: MovedDocument,
  where: string,
  { name, textAt }: MoveSource,
): Promise<StateDocument> {
  const from = copy.movingFrom ?? "";
  const text = await textAt(from).catch((error: unknown) => {
    throw refusalOf(copy, where, `${from} cannot be asked whether it was, ${asError(error).message}`);
  });
  const old = text === undefined ? undefined : movedDocument(text);
  const state = stateMovedHere(copy, old);
  if (state !== undefined) return readState(stateFormatter()(state), where, name);
  if (old?.movedTo === undefined)
    throw refusalOf(copy, where, `${from} ${text === undefined ? "has no state here" : "is still in use"}`);
  const { message, hint } = refusalOf(old, from);
  throw new GraphformError("state-moved", `${where} has the copy of a move that was given up: ${message}`, {
    ...defined({ hint }),
  });
}
