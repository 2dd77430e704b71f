/** @module Holds a pause of writes on every node, renews it, and proves that it was never interrupted. */
import type { Refusal } from "./refusals.ts";

/** A proven pause of writes. */
export interface Freeze {
  /** Time at which it began, in ms of the clock of this process. */
  readonly since: number;
  /** Aborted with a FreezeLost as soon as the pause is not proved any more: nothing that was read after may be trusted. */
  readonly lost: AbortSignal;
  /** Compares each node with what it was when the pause began, and probes that a write waits. Undefined: proved until now. */
  prove(): Promise<Refusal | undefined>;
  /** Ends the connections of all other clients on every node: what waits in them is never executed. Returns their number. */
  killClients(): Promise<number>;
  /** Stops renewing and ends the pause; waiting writes are executed then. Never rejects. */
  release(): Promise<void>;
  /**
   * Stops renewing without ending the pause: for a source that was just stopped by the service.
   */
  abandon(): void;
}

/** The reason of `Freeze.lost`. */
export class FreezeLost extends Error {
  override readonly name = "FreezeLost";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}
