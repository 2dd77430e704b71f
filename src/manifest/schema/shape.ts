/** @module Looks up fields in the schema of a manifest or of a resource. */
import type { FieldSchema } from "../../model/field-schema.ts";
import type { Path } from "../source.ts";

/** A field schema with the further JSON Schema keywords that a manifest needs. */
export interface Shape extends FieldSchema {
  readonly properties?: { readonly [name: string]: Shape };
  readonly additionalProperties?: boolean | Shape;
  readonly items?: Shape;
  readonly propertyNames?: Shape;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly minItems?: number;
  readonly anyOf?: readonly Shape[];
}

/** The shape at a path, or undefined where the schema says nothing. */
export function shapeAt(shape: Shape, path: Path): Shape | undefined {
  let current: Shape | undefined = shape;
  for (const step of path) {
    if (current === undefined) return undefined;
    const { properties, additionalProperties, items }: Shape = current;
    if (typeof step === "number") current = items;
    else if (properties !== undefined && Object.hasOwn(properties, step)) current = properties[step];
    else current = typeof additionalProperties === "object" ? additionalProperties : undefined;
  }
  return current;
}

/** Dotted path -> field, without the maps that contain other fields. */
export function leafPaths(shape: Shape): ReadonlyMap<string, Shape> {
  const known = leavesOf.get(shape);
  if (known !== undefined) return known;
  const found = new Map<string, Shape>();
  for (const [name, field] of Object.entries(shape.properties ?? {})) {
    if (field.properties === undefined) found.set(name, field);
    else for (const [inner, leaf] of leafPaths(field)) found.set(`${name}.${inner}`, leaf);
  }
  leavesOf.set(shape, found);
  return found;
}

const leavesOf = new WeakMap<Shape, ReadonlyMap<string, Shape>>();

/** Dotted paths of the secret fields. */
export function secretPaths(shape: Shape): ReadonlySet<string> {
  const known = secretsOf.get(shape);
  if (known !== undefined) return known;
  const leaves = [...leafPaths(shape)].filter(([, field]) => field["x-secret"] === true);
  const paths = new Set(leaves.map(([path]) => path));
  secretsOf.set(shape, paths);
  return paths;
}

const secretsOf = new WeakMap<Shape, ReadonlySet<string>>();
