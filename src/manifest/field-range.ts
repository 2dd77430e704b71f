/** @module Finds the source range of a field of a resource by its address. */
import { type Address, parseAddress } from "../model/address.ts";
import type { SourceRange } from "../model/problem.ts";
import { nearestSpan, rangeOf, spanOf } from "./locate.ts";
import type { Layer, Path } from "./source.ts";

/**
 * The range of the entry that declares a field: in the block of its resource, otherwise in the defaults of the section,
 * otherwise that of the nearest parent. Undefined where no block declares the resource.
 */
export function fieldRange(
  layers: readonly Layer[],
  address: Address,
  path: string,
): SourceRange | undefined {
  const parts = parseAddress(address);
  if (parts === undefined) return undefined;
  const { section, name } = parts;
  if (spanOf(layers, [section, name], "key") === undefined) return undefined;
  const keys = fieldKeys(path);
  const span =
    spanOf(layers, [section, name, ...keys], "entry") ??
    spanOf(layers, ["defaults", section, ...keys], "entry") ??
    nearestSpan(layers, [section, name, ...keys], "key");
  return span === undefined ? undefined : rangeOf(span);
}

/** The keys of a field's path. A name in a map of the spec may contain dots. */
export function fieldKeys(path: string): Path {
  const dot = path.indexOf(".");
  return dot < 0 ? [path] : [path.slice(0, dot), path.slice(dot + 1)];
}
