/** @module Keeps entries by address with indexes, so that a change costs the same in any fleet. */
import type { Address } from "../model/address.ts";

/** Entries by address, and which of them hold a value. */
export interface IndexedTable<T, Index extends string> {
  /** All entries. Goes on changing. */
  readonly entries: { readonly [address: Address]: T };
  get(address: Address): T | undefined;
  /** The addresses of the entries that hold a value. */
  having(index: Index, value: string): readonly Address[];
  /** The number of entries that hold a value. */
  count(index: Index, value: string): number;
  set(address: Address, entry: T): void;
  remove(address: Address): void;
}

/** Makes a table of some entries; `values` says what an entry is found by. */
export function indexedTable<T, Index extends string>(
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
