/** @module Spells bodies for the wire, and reads answers from it: by the field table, and by the names that a profile has. */

import { type FieldSchema, fieldRows, type KindSchema } from "../../model/field-schema.ts";
import { isObject, type Json, type JsonObject, own } from "../../model/json.ts";
import type { Seen } from "../../model/observed.ts";
import { perObject, perText } from "../../model/once.ts";
import type { Reads } from "../../model/service.ts";
import type { Spec } from "../../model/spec.ts";

export type Values = { readonly [name: string]: Json };

/** The name of a field on the wire, in the dialect of the profile. */
export function wireName(path: string, row: FieldSchema, { profile }: Pick<Reads, "profile">): string {
  const name = row["x-wire"] ?? path.slice(path.lastIndexOf(".") + 1);
  return own(profile.fields, name) ?? name;
}

/** The body of a create or an update: deployment fields at the top, settings inside requestParams. */
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

/** False for a part of the path of a resource, and for fields that operations change. */
function isSetting(row: FieldSchema): boolean {
  return row["x-place"] !== true && row["x-operations"] === undefined;
}

/** A body with the keys of the profile: `names` maps our keys, with dots for nested ones, to single keys of the service. */
export function renameBody(
  body: JsonObject,
  names: { readonly [name: string]: string },
  prefix = "",
): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]): [string, Json] => {
      const path = `${prefix}${key}`;
      const name = Object.hasOwn(names, path) ? names[path] : undefined;
      return [name ?? key, isObject(value) ? renameBody(value, names, `${path}.`) : value];
    }),
  );
}

/** The fields that an answer shows under their own paths, or repeats among the request's parameters; no secrets. */
export function fromWire(
  schema: KindSchema,
  values: Values,
  service: Pick<Reads, "profile">,
): { readonly [path: string]: Seen } {
  const echo = isObject(values["resultParams"]) ? values["resultParams"] : {};
  const spec: Record<string, Seen> = {};
  for (const [path, row] of shownRows(schema)) {
    const [described, echoed] = [own(values, path), own(echo, wireName(path, row, service))];
    if (isShown(described)) spec[path] = { value: described, source: "described" };
    else if (isShown(echoed)) spec[path] = { value: echoed, source: "echoed" };
  }
  return spec;
}

/** The rows of the fields that an answer may show. */
const shownRows = perObject((schema: KindSchema) =>
  [...fieldRows(schema)].filter(
    ([, row]) => row["x-secret"] !== true && row.type !== "object" && isSetting(row),
  ),
);

/** True for a value that an answer has: empty texts stand for values that are not set. */
export function isShown(value: Json | undefined): value is Json {
  return value !== undefined && value !== null && value !== "";
}

/** The value at the first path of each name that is not empty; an empty list comes last. `items.id` is read from each item. */
export function answerValues(body: Json, wanted: { readonly [name: string]: readonly string[] }): Values {
  const values = new Map<string, Json>();
  const inItems = new Map<string, readonly string[]>();
  for (const [name, paths] of Object.entries(wanted)) {
    if (name.startsWith("items.")) inItems.set(name.slice("items.".length), paths);
    else {
      const found = firstOf(body, paths);
      if (found !== undefined) values.set(name, found);
    }
  }
  const items = values.get("items");
  if (inItems.size > 0 && Array.isArray(items))
    values.set(
      "items",
      items.map((item: Json) => renamed(item, inItems)),
    );
  return Object.fromEntries(values);
}

function renamed(item: Json, names: ReadonlyMap<string, readonly string[]>): Json {
  if (!isObject(item)) return item;
  const found = [...names].flatMap(([name, paths]): [string, Json][] => {
    const value = firstOf(item, paths);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([...Object.entries(item), ...found]);
}

function firstOf(body: Json, paths: readonly string[]): Json | undefined {
  let empty: Json | undefined;
  for (const path of paths) {
    const value = valueAt(body, stepsOf(path));
    if (value === undefined) continue;
    if (!Array.isArray(value) || value.length > 0) return value;
    empty ??= value;
  }
  return empty;
}

const stepsOf = perText((path): readonly string[] => path.split("."));

/**
 * Follows a dotted path; `*` tries every entry, a list's in its order and an object's by their names, so that an answer
 * means the same in any order. Null, empty text and objects of nothing else are empty; an empty list is a value.
 */
function valueAt(value: Json | undefined, path: readonly string[], at = 0): Json | undefined {
  const step = path[at];
  if (step === undefined) return isNothing(value) ? undefined : value;
  if (Array.isArray(value)) {
    return step === "*"
      ? value.map((item: Json) => valueAt(item, path, at + 1)).find(isFound)
      : valueAt(value[Number(step)], path, at + 1);
  }
  if (!isObject(value)) return undefined;
  if (step === "*")
    return Object.keys(value)
      .toSorted()
      .map((name) => valueAt(value[name], path, at + 1))
      .find(isFound);
  return Object.hasOwn(value, step) ? valueAt(value[step], path, at + 1) : undefined;
}

function isFound(value: Json | undefined): boolean {
  return value !== undefined;
}

function isNothing(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === "" ||
    (isObject(value) && Object.values(value).every(isNothing))
  );
}
