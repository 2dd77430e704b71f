/** @module Decides from two inventories, and from the rights of both users, whether the data can be moved. */
import type { Inventory } from "./inventory.ts";
import type { Side } from "./nodes.ts";
import type { Refusal } from "./refusals.ts";

/** The sizes of a new database that does not exist yet, as far as they are known. */
export interface ExpectedTarget {
  /** Limit of its memory in bytes; absent: unknown. */
  readonly maxMemory?: number;
  /** Versions; absent: those of the source. */
  readonly engine?: Partial<Inventory["engine"]>;
}

/** Reasons that the source gives by itself, and that a target gives before it exists. Pure. */
export function refusalsOf(source: Inventory, target: ExpectedTarget): readonly Refusal[] {
  throw new Error(`not written yet ${source.runId}${target.maxMemory}`);
}

/** Reasons that an existing target gives. It has to be empty or ours. Pure. */
export function refusalsOfTarget(source: Inventory, target: Inventory): readonly Refusal[] {
  throw new Error(`not written yet ${source.runId}${target.runId}`);
}

/** Commands that the user may not run, found without running any; a pause of somebody else; replicas that are not among the nodes. */
export function refusalsOfSide(
  side: Side,
  use: "source" | "target",
  signal: AbortSignal,
): Promise<readonly Refusal[]> {
  throw new Error(`not written yet ${side.nodes.length}${use}${signal.aborted}`);
}
