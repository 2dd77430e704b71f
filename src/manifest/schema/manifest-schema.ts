/** @module Makes the JSON Schema of a manifest that editors use. */
import type { Json, JsonObject } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import type { Kind } from "../../model/kind.ts";
import { documentShape, outputShape } from "./document-shape.ts";
import { ownKeys } from "./resource-shape.ts";
import type { Shape } from "./shape.ts";

/** The part of a kind that the schema needs. */
export type SchemaKind = Pick<Kind, "name" | "noun" | "schema">;

/**
 * Returns the published schema (draft-07) of a whole manifest: completion, types, bounds, and the fields that a tier does
 * not offer. A text with `${...}` is accepted in place of a number, a choice or a pattern: `validate` checks the value once
 * references are filled in.
 */
export function manifestSchema(kinds: readonly SchemaKind[]): JsonObject {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const shape = documentShape(kinds, (section) => {
    const kind = byName.get(section);
    const shape = kind === undefined ? {} : editorShape(kind);
    return { resource: shape, defaults: shape };
  });
  const document = asJson(allowReferences(shape));
  const properties = isObject(document["properties"]) ? document["properties"] : {};
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "graphform manifest",
    ...document,
    properties: { ...properties, outputs: outputsSchema(properties["outputs"]) },
    allOf: kinds.map(requiredUnlessDefaulted),
  };
}

function editorShape(kind: SchemaKind): Shape {
  const { required: _, ...schema } = kind.schema;
  return { ...schema, properties: { ...schema.properties, ...ownKeys }, ...tierConditions(schema) };
}

/** Fields that the tier does not offer, as `if` and `then`, one pair for each tier. */
function tierConditions(schema: Shape): { readonly allOf?: readonly JsonObject[] } {
  const tiers = schema.properties?.["tier"]?.enum ?? [];
  const conditions = tiers.flatMap((tier): readonly JsonObject[] => {
    const refused = refusedFields(schema, String(tier));
    if (refused === undefined) return [];
    return [
      { if: { type: "object", required: ["tier"], properties: { tier: { const: tier } } }, then: refused },
    ];
  });
  return conditions.length === 0 ? {} : { allOf: conditions };
}

function refusedFields(shape: Shape, tier: string): JsonObject | undefined {
  const entries = Object.entries(shape.properties ?? {}).flatMap(
    ([name, field]): readonly [string, Json][] => {
      const offered = field["x-tiers"]?.includes(tier) ?? true;
      const inner = field.properties === undefined ? undefined : refusedFields(field, tier);
      if (!offered) return [[name, false]];
      return inner === undefined ? [] : [[name, inner]];
    },
  );
  return entries.length === 0 ? undefined : { type: "object", properties: Object.fromEntries(entries) };
}

/** A field that `defaults` may supply can only be asked for where there are none. */
function requiredUnlessDefaulted({ name, schema }: SchemaKind): JsonObject {
  const required = {
    type: "object",
    additionalProperties: { type: "object", required: schema.required ?? [] },
  };
  return {
    if: {
      type: "object",
      required: ["defaults"],
      properties: { defaults: { type: "object", required: [name] } },
    },
    else: { type: "object", properties: { [name]: { anyOf: [{ type: "null" }, required] } } },
  };
}

function outputsSchema(section: Json | undefined): JsonObject {
  const value = { type: ["string", "number", "boolean", "array"] };
  return {
    ...(isObject(section) ? section : {}),
    additionalProperties: { anyOf: [value, asJson(outputShape)] },
  };
}

const reference = { type: "string", pattern: "\\$\\{" } as const;

type Wrapped = { readonly anyOf: readonly unknown[] } | { readonly [word: string]: unknown };

/** The same schema, which accepts a text with a reference in place of any other type. Names stay strict. */
function allowReferences(shape: Shape, depth = 0): Wrapped {
  const inner = withInner(shape, depth);
  const { type, description } = shape;
  const container = type === "object" || type === "array";
  if (container) return depth === 1 ? { ...inner, type: [type, "null"] } : inner;
  const free = type === undefined || Array.isArray(type) || (type === "string" && !isBounded(shape));
  if (free || shape.const !== undefined) return inner;
  const { description: _, ...rest } = inner;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, reference] };
}

function isBounded(shape: Shape): boolean {
  return shape.enum !== undefined || shape.pattern !== undefined;
}

function withInner(shape: Shape, depth: number): { readonly [word: string]: unknown } {
  const { properties, additionalProperties, items, ...rest } = shape;
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [
    name,
    allowReferences(field, depth + 1),
  ]);
  const open =
    typeof additionalProperties === "object"
      ? allowReferences(additionalProperties, depth + 1)
      : additionalProperties;
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: open }),
    ...(items === undefined ? {} : { items: allowReferences(items, depth + 1) }),
  };
}

/** A schema as plain data. */
function asJson(schema: unknown): JsonObject {
  const data: unknown = JSON.parse(JSON.stringify(schema));
  return isObject(data) ? data : {};
}
