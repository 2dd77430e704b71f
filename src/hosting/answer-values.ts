import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";

/** The values that an endpoint's `answer` names: for each, the first of its paths that holds something. */
export function answerValues(
  body: Json,
  wanted: { readonly [name: string]: readonly string[] },
): { readonly [name: string]: Json } {
  const found = Object.entries(wanted).flatMap(([name, paths]): [string, Json][] => {
    for (const path of paths) {
      const value = first(body, path.split("."));
      if (value !== undefined) return [[name, value]];
    }
    return [];
  });
  return Object.fromEntries(found);
}

/** Follows a dotted path; `*` tries every entry in order. Nothing, null and empty text do not count as found. */
function first(value: Json | undefined, keys: readonly string[]): Json | undefined {
  const [key, ...rest] = keys;
  if (key === undefined) return value === null || value === "" || isEmpty(value) ? undefined : value;
  if (key === "*") {
    const entries = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
    for (const entry of entries) {
      const found = first(entry, rest);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Array.isArray(value)) return first(value[Number(key)], rest);
  return isObject(value) && Object.hasOwn(value, key) ? first(value[key], rest) : undefined;
}

/** An object without entries says nothing: result_params before it is rendered. A list without entries does. */
function isEmpty(value: Json | undefined): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
