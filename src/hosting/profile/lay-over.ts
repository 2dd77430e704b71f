/** @module Merges a profile into the one that it extends. */
import type { Json, JsonObject } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";

/** Merges `upper` into `lower`: maps deeply; lists and single values are replaced; null removes a key. */
export function layOver(lower: JsonObject, upper: JsonObject): JsonObject {
  const merged = new Map<string, Json>(Object.entries(lower));
  for (const [key, value] of Object.entries(upper)) {
    const below = merged.get(key);
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(value) ? layOver(isObject(below) ? below : {}, value) : value);
  }
  return Object.fromEntries(merged);
}
