/** @module Merges two maps of a manifest. */
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";

/** Merges `upper` into `lower`: maps deeply; of anything else, lists included, the value of `upper` wins. */
export function merge(lower: JsonObject, upper: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const below = Object.hasOwn(lower, key) ? lower[key] : undefined;
    merged[key] = isObject(below) && isObject(value) ? merge(below, value) : value;
  }
  return merged;
}
