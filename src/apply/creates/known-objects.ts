/** @module Remembers the objects that a create of this run cannot have made. */
import type { Address } from "../../model/address.ts";
import { type JsonObject, stableJson } from "../../model/json.ts";
import type { StateDocument } from "../../model/state.ts";

/** Objects that an address is bound to, or that were listed before a create was sent. */
export interface KnownObjects {
  /**
   * False where an answer that names the object proves nothing for an address. A bound object that is gone may come back
   * under its id, for the same address: the id of a user is its name.
   */
  mayBeNew(kind: string, place: JsonObject, id: string, address: Address): boolean;
  /** Without an address: the objects were listed before a create was sent. */
  add(kind: string, place: JsonObject, ids: readonly string[], address?: Address): void;
}

/** Starts with everything that the state binds. */
export function knownObjects({ resources }: Pick<StateDocument, "resources">): KnownObjects {
  const keyOf = (kind: string, place: JsonObject, id: string): string => `${kind} ${stableJson(place)} ${id}`;
  const known = new Map<string, Address | undefined>(
    Object.entries(resources).map(([address, { kind, place, id }]) => [keyOf(kind, place, id), address]),
  );
  return {
    mayBeNew(kind, place, id, address) {
      const key = keyOf(kind, place, id);
      return !known.has(key) || known.get(key) === address;
    },
    add(kind, place, ids, address) {
      for (const id of ids) known.set(keyOf(kind, place, id), address);
    },
  };
}
