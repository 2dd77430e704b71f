/** @module Spells an instance's spec for the wire: the body of create and update. */
import { instanceSchema } from "../fields/instance.ts";
import type { FieldSchema } from "../model/field-schema.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Reads } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";

/** The fields of an instance that stand in a body or in an answer, by their paths. */
export const rows: readonly [string, FieldSchema][] = [
  ...Object.entries(instanceSchema.properties).filter(
    ([name, row]) => row["x-in"] !== undefined && name !== "customTags",
  ),
  ...Object.entries(instanceSchema.properties["config"]?.properties ?? {}).map(
    ([name, row]): [string, FieldSchema] => [`config.${name}`, { "x-in": "requestParams", ...row }],
  ),
];

/** The body of create and update: deployment fields at the top, settings inside requestParams. */
export function requestBody(spec: Spec, service: Reads): JsonObject {
  const body: Record<string, Json> = {};
  const requestParams: Record<string, Json> = {};
  for (const [path, row] of rows) {
    const value = spec[path];
    if (value === undefined) continue;
    const name = wireName(path, row, service);
    if (row["x-in"] === "body") body[name] = value;
    else if (row["x-in"] === "requestParams") requestParams[name] = value;
  }
  return Object.keys(requestParams).length === 0 && Object.keys(body).length > 0
    ? body
    : { ...body, requestParams };
}

/** The name of a field on the wire, in the dialect of the profile. */
export function wireName(path: string, row: FieldSchema, service: Reads): string {
  const name = row["x-wire"] ?? path.slice(path.lastIndexOf(".") + 1);
  return service.profile.fields[name] ?? name;
}
