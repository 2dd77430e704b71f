/** @module Defines the journal through which a run writes its state. */
import type { Address } from "./address.ts";
import type { Ref } from "./observed.ts";
import type { Bound, StateDocument } from "./state.ts";
import type { StateEvent } from "./state-event.ts";

export interface Journal {
  /** The newest version, with everything that was recorded. It changes with every event. */
  readonly state: StateDocument;
  /** The newest version as it is now, whatever is recorded later. */
  snapshot(): StateDocument;
  /** The addresses that are bound to an object, or were at some time after version `since` of the state. */
  boundTo(kind: string, ref: Ref, since?: number): readonly Address[];
  /** Adds an event; resolves once it is durable. */
  record(event: StateEvent): Promise<void>;
  /** Binds an existing object. Bindings that arrive during a write are written together in the next version. */
  bind(address: Address, bound: Bound): Promise<void>;
}
