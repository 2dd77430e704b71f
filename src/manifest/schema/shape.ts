/** @module Holds the schema of one resolved resource, and looks up fields in a schema. */
import { type FieldSchema, fieldRows, type KindSchema } from "../../model/field-schema.ts";
import { perObject } from "../../model/once.ts";
import { durationPattern } from "../../model/quantity.ts";
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

export const secretPaths: (shape: Shape) => ReadonlySet<string> = perObject((shape) => {
  const leaves = [...fieldRows(shape)].filter(([, field]) => field["x-secret"] === true);
  return new Set(leaves.map(([path]) => path));
});

const duration: Shape = { type: "string", pattern: durationPattern, examples: ["90s", "40m", "2h"] };

const windowPattern =
  "^((mon|tue|wed|thu|fri|sat|sun)(,(mon|tue|wed|thu|fri|sat|sun))* )?([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$";

const lifecycle: Shape = {
  type: "object",
  additionalProperties: false,
  description: "What may happen to it beyond a change of its fields.",
  properties: {
    protect: { type: "boolean", description: "Refuse to delete or replace it." },
    onReplace: {
      type: "string",
      enum: ["refuse", "recreate", "migrate"],
      default: "refuse",
      description:
        "What becomes of a change that needs a new object. migrate moves the data of a database to the new one.",
    },
    migration: {
      type: "object",
      additionalProperties: false,
      description: "With onReplace: migrate: when the data may be moved, and what happens after it.",
      properties: {
        windows: {
          type: "array",
          items: { type: "string", pattern: windowPattern },
          examples: [["sat,sun 02:00-04:00"]],
          description: "Times in UTC in which apply may switch without --cutover.",
        },
        maxReadOnly: {
          ...duration,
          description: "Longest read-only time that is accepted without a look at the rehearsal.",
        },
        hold: { ...duration, default: "24h", description: "How long the old database is kept, stopped." },
        hook: {
          type: "array",
          minItems: 1,
          items: { type: "string", minLength: 1 },
          description: "A command to run after the switch: its words, without a shell; at most 5 minutes.",
        },
      },
    },
    onDelete: {
      type: "string",
      enum: ["delete", "retain", "backup"],
      default: "delete",
      description: "What becomes of the object when it is no longer declared.",
    },
    ignoreChanges: { type: "array", items: { type: "string" }, description: "Fields that are left alone." },
    dependsOn: { type: "array", items: { type: "string" }, description: "Addresses that must exist first." },
  },
};

const timeouts: Shape = {
  type: "object",
  additionalProperties: false,
  description: "How long to wait.",
  properties: { create: duration, update: duration, delete: duration },
};

const forEach: Shape = {
  description: "One resource for each entry: a list of keys, or a map of keys and values.",
};

const enabled: Shape = {
  type: "boolean",
  default: true,
  description:
    "false leaves it out, as if it were not declared: one that exists is deleted under its guards.",
};

/** Keys of every resource beside the fields of its kind. */
export const ownKeys: { readonly [name: string]: Shape } = { forEach, enabled, lifecycle, timeouts };

export const resourceShape: (schema: KindSchema) => Shape = perObject((schema) => ({
  ...schema,
  properties: { ...schema.properties, ...ownKeys },
}));
