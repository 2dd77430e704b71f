/** @module Defines JSON values, their stable text and the look at own keys. */
/** A JSON value. Plans, state and answers of the service consist of these only. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** True for a plain object: not null, not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value that a text spells; undefined for a text that is no JSON. */
export function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The code units of a character as JSON escapes them, so that a quoted text can be read back. */
export function jsonEscape(character: string): string {
  const codes = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return codes.map((code) => `\\u${code.toString(16).padStart(4, "0")}`).join("");
}

/** The deepest nesting in a text of JSON, and true if it ends within a string, or before its brackets are closed. Compares codes of quotes, backslashes and brackets. */
export function nestingOf(text: string): { readonly deepest: number; readonly isOpen: boolean } {
  let [depth, deepest, isQuoted] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) isQuoted = !isQuoted;
    else if (isQuoted) at += code === 0x5c ? 1 : 0;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    }
  }
  return { deepest, isOpen: isQuoted || depth > 0 };
}

/** The object in a text; undefined for any other text. */
export function objectIn(text: string): JsonObject | undefined {
  const value = jsonIn(text);
  return isObject(value) ? value : undefined;
}

/** The objects of a list; none of any other value. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The value if it is a text. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value if it is a text that is not empty. */
export const filledTextIn = (value: unknown): string | undefined => textIn(value) || undefined;

/** JSON with keys in sorted order, so that equal values are equal bytes. `indent` counts spaces. */
export function stableJson(value: Json, indent = 0): string {
  return JSON.stringify(sorted(value), null, indent);
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.keys(value)
    .sort()
    .map((key): [string, Json] => [key, sorted(value[key] ?? null)]);
  return Object.fromEntries(entries);
}

/** The entry of a name from a person or a service, to whom `constructor` and `toString` are names like any other. */
export function own<T>(entries: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** The same keys with other values. */
export function mapped<T, U>(
  values: { readonly [name: string]: T },
  to: (value: T, name: string) => U,
): { readonly [name: string]: U } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value, name)]));
}

/** Merges `upper` into `lower`: maps deeply; of all other values, lists included, the one of `upper` wins. */
export function merge(lower: JsonObject, upper: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const below = own(lower, key);
    merged[key] = isObject(below) && isObject(value) ? merge(below, value) : value;
  }
  return merged;
}

/** Returns the fields that have a value: JSON has no `undefined`, and a document has no key for what is not known. */
export function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> };
export function defined(fields: object): object {
  if (!Object.values(fields).includes(undefined)) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
