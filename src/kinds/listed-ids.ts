import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";

/** The ids of a list answer: `ids` as they are, or the `id` of each of its `items`, as the profile reads them. */
export function listedIds(values: { readonly [name: string]: Json }): readonly string[] {
  const { ids, items } = values;
  if (Array.isArray(ids)) return ids.map(String);
  const found = Array.isArray(items) ? items.filter(isObject) : [];
  return found
    .map((item) => item["id"])
    .filter((id) => typeof id === "string" || typeof id === "number")
    .map(String);
}
