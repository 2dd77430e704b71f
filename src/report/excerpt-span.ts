import type { Problem } from "../model/problem.ts";

/** Where in a problem's excerpt the problem is, in UTF-16 units from 0; `to` is just past it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** How far into a long line an excerpt is centred on its column (see the manifest's excerpts). */
const centre = 60;

/**
 * The part of the excerpt that a problem is about. Undefined where there is no excerpt, or where the place
 * is beyond it.
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
