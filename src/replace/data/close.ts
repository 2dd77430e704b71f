/** @module Counts the writes that a database executed, so that a later look shows whether there were more. */
import type { Side } from "./nodes.ts";

/** Writes of one database until now. Plain data: two of the same process can be compared, also by another run. */
export interface WriteMark {
  readonly runId: string;
  /** Calls of all commands that can write. */
  readonly calls: number;
  readonly savedAt: number;
  readonly changes: number;
}

export function readWriteMark(side: Side, signal: AbortSignal): Promise<WriteMark> {
  throw new Error(`not written yet ${side.nodes.length}${signal.aborted}`);
}

/** Write commands executed between two marks; undefined if the process was started anew between them. */
export function writesBetween(before: WriteMark, after: WriteMark): number | undefined {
  throw new Error(`not written yet ${before.runId}${after.runId}`);
}
