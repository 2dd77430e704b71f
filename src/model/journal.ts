/** @module The state as a run writes it: one event at a time. */
import type { Address } from "./address.ts";
import type { Bound, StateDocument } from "./state.ts";
import type { StateEvent } from "./state-event.ts";

/** Records what happens to a state. */
export interface Journal {
  /** The newest version, with everything that was recorded. It goes on changing with every event. */
  readonly state: StateDocument;
  /** The newest version as it is now, whatever is recorded later. */
  snapshot(): StateDocument;
  /** Adds an event; resolves once it is durable. */
  record(event: StateEvent): Promise<void>;
  /** Binds an object that exists; what is bound while another binding is written goes into the next version together. */
  bind(address: Address, bound: Bound): Promise<void>;
}
