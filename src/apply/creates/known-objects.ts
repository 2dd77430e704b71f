/** @module Remembers the objects that a create of this run cannot have made. */
import type { Address } from "../../model/address.ts";
import type { Journal } from "../../model/journal.ts";
import type { JsonObject } from "../../model/json.ts";
import { objectKey } from "../../model/object-key.ts";

/** Objects that an address is bound to, or that were listed before a create was sent. */
export interface KnownObjects {
  /**
   * False where an answer that names the object proves nothing for an address. A bound object that is gone may come back
   * under its id, for the same address: the id of a user is its name.
   */
  mayBeNew(kind: string, place: JsonObject, id: string, address: Address): boolean;
  /** Adds objects that were listed before a create was sent. */
  add(kind: string, place: JsonObject, ids: readonly string[]): void;
}

/**
 * Starts with everything that the state binds, and goes on with what it comes to bind. An object that it lets go of stays
 * known: that it is bound no more does not make it new.
 */
export function knownObjects(journal: Pick<Journal, "state" | "boundTo">): KnownObjects {
  const since = journal.state.serial;
  const listed = new Set<string>();
  return {
    mayBeNew: (kind, place, id, address) =>
      !listed.has(objectKey(kind, { id, place })) &&
      journal.boundTo(kind, { id, place }, since).every((other) => other === address),
    add(kind, place, ids) {
      for (const id of ids) listed.add(objectKey(kind, { id, place }));
    },
  };
}
