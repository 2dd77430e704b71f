/** @module Brings a database to rest: no write runs, none can begin, and then its writes are paused. */
import type { Freeze } from "./freeze.ts";
import type { Side } from "./nodes.ts";
import type { Refusal } from "./refusals.ts";

/** QUERY_MEM_CAPACITY now. Record it before `quiesce`: the cap of a killed run stays. */
export function readCap(side: Side, signal: AbortSignal): Promise<number> {
  throw new Error(`not written yet ${side.nodes.length}${signal.aborted}`);
}

/** Sets QUERY_MEM_CAPACITY to what it was. Called again it does the same; later runs call it, too. */
export function putCapBack(side: Side, cap: number, signal: AbortSignal): Promise<void> {
  throw new Error(`not written yet ${side.nodes.length}${cap}${signal.aborted}`);
}

/** The command that puts the cap back by hand. */
export function capCommand(cap: number): string {
  return `GRAPH.CONFIG SET QUERY_MEM_CAPACITY ${cap}`;
}

export interface QuiesceOptions {
  /** Value of `readCap`, which is recorded already. */
  readonly cap: number;
  /** Length of one pause in ms, renewed every third. It ends by itself after that if this process ends. Default 30 s. */
  readonly pause?: number;
  /** Longest time until nothing runs, in ms. Default 2 s. */
  readonly idleWithin?: number;
}

/**
 * Caps the memory of queries so that no write can begin, waits until none runs or waits, pauses writes on every node (replicas
 * once they have caught up), and puts the cap back. A refusal left the database as it was. Rejects if a node breaks; the cap
 * was put back then if the primary still answered.
 */
export function quiesce(side: Side, options: QuiesceOptions, signal: AbortSignal): Promise<Freeze | Refusal> {
  throw new Error(`not written yet ${side.nodes.length}${options.cap}${signal.aborted}`);
}
