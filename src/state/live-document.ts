/** @module Keeps a state document that is changed in place while a run goes on. */
import type { Address } from "../model/address.ts";
import { objectKey } from "../model/observed.ts";
import type { Bound, CreateRound, Intent, Migration, StateDocument } from "../model/state.ts";

/** A document without the tables that grow with the fleet. */
export type DocumentHead = Omit<StateDocument, "resources" | "intents" | "rounds">;

export interface LiveDocument {
  /** The document. Its entries never change, its maps do. */
  readonly view: StateDocument;
  readonly resources: IndexedTable<Bound, "ref" | "object">;
  readonly intents: IndexedTable<Intent, "ref" | "round">;
  readonly rounds: { [round: string]: CreateRound };
  setHead(change: Partial<DocumentHead>): void;
  /** Remembers the migration of an address, or forgets it. False if there was none to forget. */
  setMigration(address: Address, migration: Migration | undefined): boolean;
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
  const setHead = (change: Partial<DocumentHead>): void => void Object.assign(view, change);
  const setMigration = (address: Address, migration: Migration | undefined): boolean => {
    const { [address]: before, ...others } = view.migrations ?? {};
    if (before === undefined && migration === undefined) return false;
    setHead({ migrations: migration === undefined ? others : { ...others, [address]: migration } });
    return true;
  };
  return { view, resources, intents, rounds, setHead, setMigration };
}

/** A copy of the document that later events do not change. */
export function snapshotOf(state: StateDocument): StateDocument {
  const { resources, intents, rounds } = state;
  return { ...state, resources: { ...resources }, intents: { ...intents }, rounds: { ...rounds } };
}

/** Entries by address, found by the values that they hold. */
export interface IndexedTable<T, Index extends string> {
  /** All entries. Goes on changing. */
  readonly entries: { readonly [address: Address]: T };
  get(address: Address): T | undefined;
  having(index: Index, value: string): readonly Address[];
  count(index: Index, value: string): number;
  set(address: Address, entry: T): void;
  remove(address: Address): void;
}

function indexedTable<T, Index extends string>(
  initial: { readonly [address: Address]: T },
  values: { readonly [index in Index]: (entry: T) => readonly string[] },
): IndexedTable<T, Index> {
  // Without a prototype: an address may be named like something that every object has.
  const entries: { [address: Address]: T } = Object.create(null);
  const found = new Map<string, Set<Address>>();
  const keysOf = (entry: T): readonly string[] =>
    Object.entries<(entry: T) => readonly string[]>(values).flatMap(([index, of]) =>
      of(entry).map((value) => keyOf(index, value)),
    );
  const forget = (address: Address, entry: T | undefined): void => {
    for (const key of entry === undefined ? [] : keysOf(entry)) {
      const addresses = found.get(key);
      addresses?.delete(address);
      if (addresses?.size === 0) found.delete(key);
    }
  };
  const set = (address: Address, entry: T): void => {
    forget(address, entries[address]);
    entries[address] = entry;
    for (const key of keysOf(entry)) found.set(key, (found.get(key) ?? new Set()).add(address));
  };
  const remove = (address: Address): void => {
    forget(address, entries[address]);
    delete entries[address];
  };
  for (const [address, entry] of Object.entries(initial)) set(address, entry);
  return {
    entries,
    get: (address) => entries[address],
    having: (index, value) => [...(found.get(keyOf(index, value)) ?? [])],
    count: (index, value) => found.get(keyOf(index, value))?.size ?? 0,
    set,
    remove,
  };
}

function keyOf(index: string, value: string): string {
  return `${index} ${value}`;
}
