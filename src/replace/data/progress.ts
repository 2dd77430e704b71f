/** @module Counts what was copied or compared, and estimates the time that is left. */

/** Progress of a copy or of a comparison. */
export interface Progress {
  readonly keys: { readonly done: number; readonly of: number };
  /** Bytes of dumps copied so far; `of` is estimated from memory unless a rehearsal measured it. */
  readonly bytes: { readonly done: number; readonly of: number };
  /** The key that just began or ended. */
  readonly key?: { readonly database: number; readonly name: string; readonly is: "started" | "done" };
  /** Estimated time left in ms; absent in the beginning. */
  readonly left?: number;
}

export type OnProgress = (progress: Progress) => void;
