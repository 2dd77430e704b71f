/** @module Remembers which objects a run has let go of, and when. */
import type { Address } from "../model/address.ts";
import { objectKey } from "../model/object-key.ts";
import type { Ref } from "../model/observed.ts";
import type { LiveDocument } from "./live-document.ts";

/** A document whose bindings are not forgotten when they end. */
export interface RememberingDocument {
  /** The document; changes made through it are remembered. */
  readonly live: LiveDocument;
  /** The addresses that are bound to an object, or were at some time after version `since`. Costs the same in any fleet. */
  boundTo(kind: string, ref: Ref, since: number): readonly Address[];
}

/** Wraps a document: a binding that is replaced or removed is kept, with the last version that had it. */
export function rememberReleased(document: LiveDocument): RememberingDocument {
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
    boundTo(kind, ref, since) {
      const key = objectKey(kind, ref);
      const before = [...(released.get(key) ?? [])].filter(([, serial]) => serial > since);
      return [...new Set([...resources.having("object", key), ...before.map(([address]) => address)])];
    },
  };
}
