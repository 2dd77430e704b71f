/** @module Renames the keys of a request body to those of the service. */
import type { Json, JsonObject } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";

/** `names` maps our keys, dotted where nested, to single keys of the service. */
export function renameBody(body: JsonObject, names: { readonly [name: string]: string }): JsonObject {
  return Object.keys(names).length === 0 ? body : renamed(body, names, "");
}

function renamed(body: JsonObject, names: { readonly [name: string]: string }, prefix: string): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]): [string, Json] => {
      const path = `${prefix}${key}`;
      const name = Object.hasOwn(names, path) ? names[path] : undefined;
      return [name ?? key, isObject(value) ? renamed(value, names, `${path}.`) : value];
    }),
  );
}
