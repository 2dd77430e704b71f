import type { SourceRange } from "../model/problem.ts";
import type { Expression } from "./expression.ts";
import type { Block } from "./inventory.ts";
import { nearestSpot, type Part, rangeOf, spotOf, within } from "./locate.ts";
import type { Layer, Path } from "./source.ts";

/**
 * Where a path of a block is written: in the block itself, or in its section's defaults, or else the nearest thing
 * around it. With an expression, where that stands in the text.
 */
export function placeOf(
  layers: readonly Layer[],
  block: Pick<Block, "kind" | "name">,
  path: Path,
  part: Part,
  expression?: Expression,
): SourceRange {
  const base = [block.kind.name, block.name];
  const spot =
    spotOf(layers, [...base, ...path], part) ??
    (path.length === 0 ? undefined : spotOf(layers, ["defaults", block.kind.name, ...path], part)) ??
    nearestSpot(layers, [...base, ...path], part);
  return rangeOf(spot === undefined || expression === undefined ? spot : within(spot, expression.text));
}
