/** @module Locates a problem within its source excerpt. */
import type { Problem } from "../model/problem.ts";

/** Position of a problem in its excerpt, in UTF-16 units from 0; `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Column at which the excerpt of a long line has its problem, as `manifest/` cuts it. */
const centre = 60;

/**
 * Returns the span to mark. Undefined if there is no excerpt, or if the problem is outside of it.
 */
export function excerptSpan({ excerpt, range }: Problem): Span | undefined {
  if (excerpt === undefined) return undefined;
  const from = offsetIn(excerpt, range.start.column - 1);
  if (from > excerpt.length) return undefined;
  const sameLine = range.end.line === range.start.line;
  const length = sameLine ? range.end.column - range.start.column : excerpt.length - from;
  return { from, to: Math.max(from + 1, Math.min(excerpt.length, from + length)) };
}

function offsetIn(excerpt: string, column: number): number {
  return excerpt.startsWith("…") && column > centre ? centre + 1 : column;
}
