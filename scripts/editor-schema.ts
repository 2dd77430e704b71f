import { fieldFacts } from "../src/commands/explain.ts";
import { documentShape, outputShape } from "../src/manifest/schema/document-shape.ts";
import { ownKeys, type Shape } from "../src/manifest/schema/shape.ts";
import type { FieldSchema } from "../src/model/field-schema.ts";
import { defined, isObject, type Json, type JsonObject } from "../src/model/json.ts";
import type { Profile } from "../src/model/service.ts";
import type { SchemaKind } from "./compile-validators.ts";

/** Values that editors suggest, and do not demand, by dotted path of a field. */
interface Suggestions {
  readonly [path: string]: readonly string[];
}

/**
 * The published schema (draft-07) of a whole manifest, for editors. It accepts a text with `${...}` in place of a number, a choice or a
 * pattern: `validate` checks the value once references are filled in.
 */
export function manifestSchema(kinds: readonly SchemaKind[], suggestions: Suggestions = {}): JsonObject {
  return documentSchema("graphform manifest", kinds, suggestions, {
    required: documentShape(kinds).required ?? [],
    allOf: kinds.map(requiredUnlessDefaulted),
  });
}

/** The published schema of one layer: no key is required, because another layer may have it. */
export function layerSchema(kinds: readonly SchemaKind[], suggestions: Suggestions = {}): JsonObject {
  return documentSchema("graphform layer", kinds, suggestions, {});
}

function documentSchema(
  title: string,
  kinds: readonly SchemaKind[],
  suggestions: Suggestions,
  demands: JsonObject,
): JsonObject {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const shape = documentShape(kinds, (section) => {
    const kind = byName.get(section);
    if (kind === undefined) return { resource: {}, defaults: {} };
    const { required: _, ...schema } = kind.schema;
    const fields = withHovers(schema.properties, suggestions);
    const shape = { ...schema, properties: { ...fields, ...ownKeys }, ...tierConditions(schema) };
    return { resource: shape, defaults: shape };
  });
  const { required: _, ...document } = asJson(allowReferences(shape));
  const properties = isObject(document["properties"]) ? document["properties"] : {};
  const output = { type: ["string", "number", "boolean", "array"] };
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title,
    ...document,
    properties: {
      ...properties,
      outputs: {
        ...(isObject(properties["outputs"]) ? properties["outputs"] : {}),
        additionalProperties: { anyOf: [output, asJson(outputShape)] },
      },
    },
    ...demands,
  };
}

/** Fields with what an editor shows of them: everything that `explain` says, and the values that it suggests. */
function withHovers(
  fields: { readonly [name: string]: Shape },
  suggestions: Suggestions,
  prefix = "",
): { readonly [name: string]: Shape } {
  const shown = Object.entries(fields).map(([name, field]): [string, Shape] => {
    const path = `${prefix}${name}`;
    if (field.properties !== undefined)
      return [name, { ...field, properties: withHovers(field.properties, suggestions, `${path}.`) }];
    const { type, minLength = 0, ...rest } = { ...field, description: hoverOf(field) };
    const values = suggestions[path] ?? field.examples ?? [];
    if (type !== "string" || isBounded(field) || values.length < 2) return [name, { ...field, ...rest }];
    return [name, { ...rest, anyOf: [{ type, minLength }, { enum: values }] }];
  });
  return Object.fromEntries(shown);
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

/** A field that `defaults` may supply is required only if there are none. */
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
  return { ...defined({ description }), anyOf: [rest, reference] };
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

function asJson(schema: unknown): JsonObject {
  const data: unknown = JSON.parse(JSON.stringify(schema));
  return isObject(data) ? data : {};
}

/** The description of a field for an editor: a paragraph, and a line for each fact that an editor does not show by itself. */
function hoverOf(row: FieldSchema): string {
  const shownAnyway = ["description", "type", "allowed", "pattern", "secret"];
  const facts = fieldFacts(row).filter(([name]) => !shownAnyway.includes(name));
  const lines = facts.map(([name, value]) => `- ${name}: ${[value].flat().join(", ")}`);
  return [row.description ?? "", lines.join("\n")].join("\n\n").trim();
}

/** The values of profiles that editors suggest; those of regions stand in the field tables. */
export function suggestionsOf(profiles: readonly Pick<Profile, "tiers" | "instanceTypes">[]): Suggestions {
  const unique = (values: readonly string[]): readonly string[] => [...new Set(values)];
  return {
    component: unique(
      profiles.flatMap(({ tiers }) => Object.values(tiers).flatMap((tier) => Object.keys(tier.components))),
    ),
    "config.nodeInstanceType": unique(
      profiles.flatMap(({ instanceTypes }) => Object.values(instanceTypes).flatMap(Object.keys)),
    ),
  };
}
