/** @module The journal of a run over a store. */
import type { Clock } from "../model/clock.ts";
import type { Journal } from "../model/journal.ts";
import type { StateDocument } from "../model/state.ts";
import type { Binding, StateEvent } from "../model/state-event.ts";
import { advance } from "./document.ts";
import { mergeCalls } from "./merge-calls.ts";
import { reduce } from "./reducer.ts";
import type { StateStore } from "./store.ts";

/**
 * Opens the journal of a run: one line of versions, however many steps record at once. An event changes the newest
 * version at once and resolves when it is durable; one that changes nothing writes nothing.
 */
export function openJournal(store: Pick<StateStore, "write">, initial: StateDocument, clock: Clock): Journal {
  let newest = initial;
  const record = async (event: StateEvent): Promise<void> => {
    const next = reduce(newest, event);
    if (next === newest) return;
    newest = advance(next, clock.now());
    await store.write(newest);
  };
  const bindings = mergeCalls<Binding>((items) => record({ type: "bound-together", bindings: items }));
  return {
    get state(): StateDocument {
      return newest;
    },
    record,
    bind: (address, bound) => bindings.offer([address, bound]),
  };
}
