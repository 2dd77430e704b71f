/** @module Follows a path through the nodes of one file, and notices what is shared on the way. */

import { isAlias, isMap, isScalar, type ParsedNode, type YAMLMap } from "yaml";
import { defined } from "../../model/json.ts";
import type { Layer, Path } from "../source.ts";

/** A map of a manifest as it is written. */
export type WrittenMap = YAMLMap<ParsedNode, ParsedNode | null>;

/** The end of a path in one file: as far as it leads. */
export interface Followed {
  /** Maps that were passed, from the outermost; `missing` begins in the last one. */
  readonly maps: readonly WrittenMap[];
  /** The node at the end; absent where there is none. */
  readonly value?: ParsedNode;
  /** Keys that are not there. */
  readonly missing: Path;
  /** An alias, or a node that aliases stand for: changing what is below changes it in several places. */
  readonly shared?: ParsedNode;
}

/** Follows a path from the top of a file. */
export function followPath(layer: Layer, path: Path): Followed {
  const maps: WrittenMap[] = [];
  let node: ParsedNode | undefined = layer.root ?? undefined;
  let shared = sharedAt(layer, node);
  for (const [taken, step] of path.entries()) {
    const target: ParsedNode | undefined = isAlias(node) ? layer.aliases.get(node) : node;
    if (!isMap<ParsedNode, ParsedNode | null>(target))
      return {
        maps,
        ...defined({ value: node }),
        missing: path.slice(taken),
        ...of(shared),
      };
    maps.push(target);
    const entry = target.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
    if (entry === undefined) return { maps, missing: path.slice(taken), ...of(shared) };
    if (entry.value === null) return { maps, value: entry.key, missing: path.slice(taken), ...of(shared) };
    node = entry.value;
    shared ??= sharedAt(layer, node);
  }
  return { maps, ...defined({ value: node }), missing: [], ...of(shared) };
}

function of(shared: ParsedNode | undefined): Pick<Followed, "shared"> {
  return shared === undefined ? {} : { shared };
}

function sharedAt(layer: Layer, node: ParsedNode | undefined): ParsedNode | undefined {
  if (node === undefined) return undefined;
  const isAnchored = [...layer.aliases.values()].includes(node);
  return isAlias(node) || isAnchored ? node : undefined;
}
