/** @module Lists the keys of a manifest that are graphform's own. */
import type { Kind } from "../../model/kind.ts";
import { documentShape } from "./document-shape.ts";
import { ownKeys } from "./resource-shape.ts";
import type { Shape } from "./shape.ts";

/** A key of the manifest; `*` in its path stands for any name. */
export interface ManifestKey {
  readonly path: string;
  readonly shape: Shape;
}

/** Every key but the fields of the kinds, each before the keys in it. The keys that every resource has stand without a section. */
export function manifestKeys(kinds: readonly Kind[]): readonly ManifestKey[] {
  const { properties = {} } = documentShape(kinds);
  return [...keysIn(properties, ""), ...keysIn(ownKeys, "")];
}

function keysIn(properties: { readonly [name: string]: Shape }, prefix: string): readonly ManifestKey[] {
  return Object.entries(properties).flatMap(([name, shape]) => {
    const path = `${prefix}${name}`;
    return [{ path, shape }, ...keysWithin(shape, path)];
  });
}

function keysWithin(
  { properties, additionalProperties, items }: Shape,
  path: string,
): readonly ManifestKey[] {
  if (properties !== undefined) return keysIn(properties, `${path}.`);
  if (typeof additionalProperties === "object") return keysWithin(additionalProperties, `${path}.*`);
  return items === undefined ? [] : keysWithin(items, path);
}
