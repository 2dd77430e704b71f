/** @module Makes sure that a database keeps what it was given: on its disk, on its replicas, and within its memory. */
import type { Side } from "./nodes.ts";
import type { Refusal } from "./refusals.ts";

export interface Durable {
  /** True if everything is in the append-only file on disk. False: the database has none; take a backup before it is relied on. */
  readonly isOnDisk: boolean;
  /** Replicas that have everything. */
  readonly replicas: number;
  /** Used part of the memory limit; 0 without a limit. */
  readonly usedShare: number;
}

/** Waits until the target is safe, at most `within` ms (default 60 s). */
export function makeDurable(target: Side, signal: AbortSignal, within?: number): Promise<Durable | Refusal> {
  throw new Error(`not written yet ${target.nodes.length}${within}${signal.aborted}`);
}
