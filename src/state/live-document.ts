/** @module Keeps a state document that is changed in place while a run goes on. */
import { objectKey } from "../model/object-key.ts";
import type { Bound, CreateRound, Intent, StateDocument } from "../model/state.ts";
import { type IndexedTable, indexedTable } from "./indexed-table.ts";

/** The part of a document that does not grow with the number of resources. */
export type DocumentHead = Omit<StateDocument, "resources" | "intents" | "rounds">;

/** A document and the tables that it shows. */
export interface LiveDocument {
  /** The document. Its entries never change, its maps do. */
  readonly view: StateDocument;
  readonly resources: IndexedTable<Bound, "ref" | "object">;
  readonly intents: IndexedTable<Intent, "ref" | "round">;
  readonly rounds: { [round: string]: CreateRound };
  setHead(change: Partial<DocumentHead>): void;
}

/** Makes a copy of a document that can be changed in place. */
export function liveDocument(state: StateDocument): LiveDocument {
  const resources = indexedTable<Bound, "ref" | "object">(state.resources, {
    ref: ({ refs }) => [...new Set(refs)],
    object: (bound) => [objectKey(bound.kind, bound)],
  });
  const intents = indexedTable<Intent, "ref" | "round">(state.intents, {
    ref: ({ refs }) => [...new Set(refs)],
    round: ({ round }) => [round],
  });
  const rounds: { [round: string]: CreateRound } = Object.assign(Object.create(null), state.rounds);
  const view = { ...state, resources: resources.entries, intents: intents.entries, rounds };
  return { view, resources, intents, rounds, setHead: (change) => void Object.assign(view, change) };
}

/** A document as it is now, whatever happens to it later. */
export function snapshotOf(state: StateDocument): StateDocument {
  const { resources, intents, rounds } = state;
  return { ...state, resources: { ...resources }, intents: { ...intents }, rounds: { ...rounds } };
}
