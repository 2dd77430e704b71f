/** @module Copies every key of every database, with its end, and the libraries and parameters, in bounded memory. */
import type { Inventory } from "./inventory.ts";
import type { Side } from "./nodes.ts";
import type { OnProgress } from "./progress.ts";
import type { Refusal } from "./refusals.ts";

export interface CopyOptions {
  /** Inventory of the source. */
  readonly inventory: Inventory;
  /** Parameters that the target keeps as it has them: those that its manifest sets. */
  readonly keepParameters?: readonly string[];
  /** Bytes of dumps on their way at once. Default 512 MB. */
  readonly inFlight?: number;
  readonly onProgress?: OnProgress;
}

export interface Copied {
  readonly keys: number;
  /** Bytes of all dumps, and of the largest. */
  readonly bytes: number;
  readonly largest: number;
  /** Keys whose end came before they were copied. */
  readonly expired: number;
  /** In ms. */
  readonly took: number;
}

/** Largest dump of one value in bytes: above 512 MB the engine resets the connection instead of restoring it. */
export const largestValue = 400_000_000;

/**
 * Copies everything into an emptied target. The source is read only; a copy that was interrupted is begun anew. The signal should include
 * `Freeze.lost`.
 */
export function copy(
  source: Side,
  target: Side,
  options: CopyOptions,
  signal: AbortSignal,
): Promise<Copied | Refusal> {
  throw new Error(`not written yet ${source.nodes.length}${target}${options}${signal.aborted}`);
}

/** Deletes every key and library of the target. It refuses a target that is the source. */
export function emptyTarget(source: Side, target: Side, signal: AbortSignal): Promise<Refusal | undefined> {
  throw new Error(`not written yet ${source.nodes.length}${target}${signal.aborted}`);
}
