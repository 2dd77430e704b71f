/** @module Finds the source range of a path in a block. */
import type { SourceRange } from "../model/problem.ts";
import type { Expression } from "./expression.ts";
import type { Block } from "./inventory.ts";
import { nearestSpan, type Part, rangeOf, spanOf, within } from "./locate.ts";
import type { Layer, Path } from "./source.ts";

/**
 * Looks in the block, then in the defaults of its section, then at the nearest parent. With an expression, the range is
 * that of the expression.
 */
export function blockRange(
  layers: readonly Layer[],
  block: Pick<Block, "kind" | "name">,
  path: Path,
  part: Part,
  expression?: Expression,
): SourceRange {
  const base = [block.kind.name, block.name];
  const span =
    spanOf(layers, [...base, ...path], part) ??
    (path.length === 0 ? undefined : spanOf(layers, ["defaults", block.kind.name, ...path], part)) ??
    nearestSpan(layers, [...base, ...path], part);
  return rangeOf(span === undefined || expression === undefined ? span : within(span, expression.text));
}
