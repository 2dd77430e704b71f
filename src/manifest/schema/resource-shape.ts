/** @module Holds the schema of one resolved resource. */
import type { KindSchema } from "../../model/field-schema.ts";
import { durationPattern } from "../../model/quantity.ts";
import type { Shape } from "./shape.ts";

const duration: Shape = { type: "string", pattern: durationPattern, examples: ["90s", "40m", "2h"] };

const lifecycle: Shape = {
  type: "object",
  additionalProperties: false,
  description: "What may happen to it beyond a change of its fields.",
  properties: {
    protect: { type: "boolean", description: "Refuse to delete or replace it." },
    onReplace: {
      type: "string",
      enum: ["refuse", "recreate"],
      default: "refuse",
      description: "What becomes of a change that needs a new object.",
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

/** The fields of the kind and the keys of every resource; made once for each kind. */
export function resourceShape(schema: KindSchema): Shape {
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const shape: Shape = { ...schema, properties: { ...schema.properties, ...ownKeys } };
  shapes.set(schema, shape);
  return shape;
}

const shapes = new WeakMap<KindSchema, Shape>();
