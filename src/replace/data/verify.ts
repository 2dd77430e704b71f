/** @module Compares two databases: counts, schema, every node and edge, other keys, ends, libraries and parameters. */
import type { Side } from "./nodes.ts";
import type { OnProgress } from "./progress.ts";

/** Something that is not the same on both sides. */
export interface Difference {
  readonly what:
    | "keys"
    | "count"
    | "index"
    | "constraint"
    | "node"
    | "edge"
    | "value"
    | "end"
    | "library"
    | "parameter";
  /** One sentence: what differs, and where. */
  readonly message: string;
}

export interface VerifyOptions {
  readonly keepParameters?: readonly string[];
  readonly onProgress?: OnProgress;
  /** Longest list of differences. Default 20. */
  readonly most?: number;
}

export interface Verified {
  /** Empty: both hold the same. */
  readonly differences: readonly Difference[];
  readonly nodes: number;
  readonly edges: number;
  readonly keys: number;
  /** In ms. */
  readonly took: number;
}

/** Reads both sides at once. Keys whose end has come meanwhile are no difference. */
export function verify(
  source: Side,
  target: Side,
  options: VerifyOptions,
  signal: AbortSignal,
): Promise<Verified> {
  throw new Error(`not written yet ${source.nodes.length}${target}${options}${signal.aborted}`);
}
