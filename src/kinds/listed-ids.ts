/** @module Reads the ids of a list answer, and remembers which lists were partial. */
import { mayBeMore } from "../hosting/wire/pages.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isObject, stableJson } from "../model/json.ts";
import type { Reads } from "../model/service.ts";

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

/** Places whose last list was not all, by the service that was asked. */
const partial = new WeakMap<Reads, Set<string>>();

/** Remembers whether a list of a place was all of it. */
export function notePartial(
  service: Reads,
  place: JsonObject,
  values: { readonly [name: string]: Json },
): void {
  const places = partial.get(service) ?? new Set();
  partial.set(service, places);
  if (mayBeMore(values)) places.add(stableJson(place));
  else places.delete(stableJson(place));
}

/** True where the last list of a place was not all of it. */
export function wasPartial(service: Reads, place: JsonObject): boolean {
  return partial.get(service)?.has(stableJson(place)) === true;
}
