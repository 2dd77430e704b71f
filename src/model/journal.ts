import type { Address } from "./address.ts";
import type { Bound, Converging, Intent, RecordedOutput, StateDocument } from "./state.ts";

/** The state as apply writes it: each call is durable when it resolves. */
export interface Journal {
  readonly state: StateDocument;
  /** A create is about to be sent. */
  announce(address: Address, intent: Intent): Promise<void>;
  /** The announced create has an object. */
  acknowledge(
    address: Address,
    found: { readonly id: string; readonly createdAt: string; readonly converging?: Converging },
  ): Promise<void>;
  /** The announced create surely made nothing. */
  abandon(address: Address): Promise<void>;
  bind(address: Address, bound: Bound): Promise<void>;
  /** An update of these fields is about to be sent: what they are is unknown until it was seen to finish. */
  begins(address: Address, paths: readonly string[]): Promise<void>;
  /** The service accepted an operation upon a bound object. */
  accepted(address: Address, converging: Converging): Promise<void>;
  /** The accepted operation was seen to finish: what it applied is recorded. */
  settled(address: Address): Promise<void>;
  /** The accepted operation failed: nothing is recorded. */
  unsettled(address: Address): Promise<void>;
  release(address: Address): Promise<void>;
  move(from: Address, to: Address): Promise<void>;
  burn(fingerprint: string): Promise<void>;
  outputs(outputs: { readonly [name: string]: RecordedOutput }): Promise<void>;
}
