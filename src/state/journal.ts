/** @module Opens the journal of a run: every event becomes a version in a store. */
import type { Address } from "../model/address.ts";
import type { Clock } from "../model/clock.ts";
import { objectKey } from "../model/observed.ts";
import type { StateDocument } from "../model/state.ts";
import type { Binding, Journal, StateEvent } from "../model/state-event.ts";
import { nextVersion } from "./document.ts";
import { type LiveDocument, liveDocument, snapshotOf } from "./live-document.ts";
import { applyEvent } from "./reducer.ts";
import { mergeCalls } from "./state-writer.ts";
import type { JournalStore } from "./store.ts";

/** Events of the service: their steps go on to their end if the store that refuses them keeps them. */
const hasHappened: readonly StateEvent["type"][] = [
  "create-refused",
  "creates-lost",
  "create-acknowledged",
  "creates-resolved",
  "bound",
  "operation-accepted",
  "operation-settled",
  "healed",
  "operation-failed",
  "released",
  "released-together",
];

/**
 * Opens the journal of a run: one line of versions, however many steps record at once. An event changes the newest version at once
 * and resolves when it is durable; one that changes nothing writes nothing. The first version is written whole: `initial` may differ
 * from what is stored (a run claims the state for its service).
 */
export function openJournal(store: JournalStore, initial: StateDocument, clock: Clock): Journal {
  const { live, boundTo } = rememberReleased(liveDocument(initial));
  let isFirst = true;
  const record = async (event: StateEvent): Promise<void> => {
    if (!applyEvent(live, event)) return;
    const version = nextVersion(live.view, clock.now());
    live.setHead(version);
    const wasFirst = isFirst;
    isFirst = false;
    try {
      await (wasFirst
        ? store.write(snapshotOf(live.view))
        : store.append({ lineage: initial.lineage, ...version, event }));
    } catch (error) {
      if (store.spool === undefined || !hasHappened.includes(event.type)) throw error;
      store.spool(event);
    }
  };
  const bindings = mergeCalls<Binding>((take) => record({ type: "bound-together", bindings: take() }));
  return {
    state: live.view,
    snapshot: () => snapshotOf(live.view),
    boundTo,
    record,
    bind: (address, bound) => bindings.offer([address, bound]),
  };
}

/** Wraps a document: a binding that is replaced or removed is kept, with the last version that had it. */
function rememberReleased(
  document: LiveDocument,
): Pick<Required<Journal>, "boundTo"> & { live: LiveDocument } {
  const { resources, view } = document;
  const released = new Map<string, Map<Address, number>>();
  const remember = (address: Address): void => {
    const bound = resources.get(address);
    if (bound === undefined) return;
    const key = objectKey(bound.kind, bound);
    const addresses = released.get(key) ?? new Map<Address, number>();
    released.set(key, addresses.set(address, view.serial + 1));
  };
  const remembering: LiveDocument["resources"] = {
    ...resources,
    set(address, entry) {
      const bound = resources.get(address);
      if (bound?.id !== entry.id || bound.kind !== entry.kind || bound.place !== entry.place)
        remember(address);
      resources.set(address, entry);
    },
    remove(address) {
      remember(address);
      resources.remove(address);
    },
  };
  return {
    live: { ...document, resources: remembering },
    boundTo(kind, ref, since = view.serial) {
      const key = objectKey(kind, ref);
      const before = [...(released.get(key) ?? [])].filter(([, serial]) => serial > since);
      return [...new Set([...resources.having("object", key), ...before.map(([address]) => address)])];
    },
  };
}
