/** @module Spells the fields of every kind for the wire, and reads them back: both by the field table. */
import { type FieldSchema, fieldRows, type KindSchema } from "../model/field-schema.ts";
import { isObject, type Json, type JsonObject, own } from "../model/json.ts";
import type { Seen } from "../model/observed.ts";
import type { Reads } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";

/** Values of an answer by the names that the profile gives them. */
export type Values = { readonly [name: string]: Json };

/** The name of a field on the wire, in the dialect of the profile. */
export function wireName(path: string, row: FieldSchema, { profile }: Pick<Reads, "profile">): string {
  const name = row["x-wire"] ?? path.slice(path.lastIndexOf(".") + 1);
  return own(profile.fields, name) ?? name;
}

/**
 * The body of a create or an update: deployment fields at the top, settings inside requestParams. Fields of the path, of
 * operations and of requests of their own are left out.
 */
export function toWire(schema: KindSchema, spec: Spec, service: Pick<Reads, "profile">): JsonObject {
  const body: Record<string, Json> = {};
  const requestParams: Record<string, Json> = {};
  for (const [path, row] of fieldRows(schema)) {
    const [value, part] = [spec[path], partOfRequest(path, row)];
    if (value === undefined || part === undefined) continue;
    (part === "body" ? body : requestParams)[wireName(path, row, service)] = value;
  }
  return Object.keys(requestParams).length === 0 ? body : { ...body, requestParams };
}

function partOfRequest(path: string, row: FieldSchema): "body" | "requestParams" | undefined {
  if (!isSetting(row) || row["x-in"] === "metadata") return undefined;
  return row["x-in"] ?? (path.startsWith("config.") ? "requestParams" : "body");
}

/**
 * The fields that an answer shows: under their own paths as the profile names them, otherwise repeated among the parameters of
 * the request. Secrets go no further.
 */
export function fromWire(
  schema: KindSchema,
  values: Values,
  service: Pick<Reads, "profile">,
): { readonly [path: string]: Seen } {
  const echo = isObject(values["resultParams"]) ? values["resultParams"] : {};
  const spec: Record<string, Seen> = {};
  for (const [path, row] of fieldRows(schema)) {
    if (row["x-secret"] === true || row.type === "object" || !isSetting(row)) continue;
    const [described, echoed] = [own(values, path), own(echo, wireName(path, row, service))];
    if (isShown(described)) spec[path] = { value: described, source: "described" };
    else if (isShown(echoed)) spec[path] = { value: echoed, source: "echoed" };
  }
  return spec;
}

/** False for a part of the path of a resource, and for what operations change. */
function isSetting(row: FieldSchema): boolean {
  return row["x-place"] !== true && row["x-operations"] === undefined;
}

/** True for a value that an answer has: empty texts stand for values that are not set. */
export function isShown(value: Json | undefined): value is Json {
  return value !== undefined && value !== null && value !== "";
}
