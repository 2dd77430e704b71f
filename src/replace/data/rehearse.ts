/** @module Copies and compares without a pause, to measure how long a real one will take, and empties the target again. */
import type { CopyOptions } from "./copy.ts";
import type { Side } from "./nodes.ts";
import type { Refusal } from "./refusals.ts";

/** Measurements of a rehearsal. Times in ms. Plain data. */
export interface Rehearsal {
  readonly keys: number;
  readonly bytes: number;
  readonly largest: number;
  readonly copy: number;
  readonly verify: number;
  /** Longest time in which the live source answered nothing. */
  readonly stall: number;
  /** Differences that the comparison found: of a source that was written to meanwhile they prove nothing. */
  readonly differences: number;
}

/** The target is empty afterwards, also if it refuses. */
export function rehearse(
  source: Side,
  target: Side,
  options: CopyOptions,
  signal: AbortSignal,
): Promise<Rehearsal | Refusal> {
  throw new Error(`not written yet ${source.nodes.length}${target}${options}${signal.aborted}`);
}
