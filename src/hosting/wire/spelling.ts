/** @module Renames the keys of bodies and reads the values of answers, by the names that a profile has. */

import { isObject, type Json, type JsonObject, jsonIn, own } from "../../model/json.ts";
import { perText } from "../../model/once.ts";

export type Values = { readonly [name: string]: Json };

/** A body with the keys of the profile: `names` maps our keys, with dots for nested ones, to single keys of the service. */
export function renameBody(
  body: JsonObject,
  names: { readonly [name: string]: string },
  prefix = "",
): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]): [string, Json] => {
      const path = `${prefix}${key}`;
      const name = own(names, path);
      return [name ?? key, isObject(value) ? renameBody(value, names, `${path}.`) : value];
    }),
  );
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

/** The value behind a name in JSON, or as logs print it: `name=value`, `name:value`. */
const valueBehind = /"\s{0,9}:\s{0,9}("(?:[^"\\]|\\.){1,4096}")|[=:]([^\s"'\\]{1,4096})/sy;

/** The texts behind these names in an answer: in parameters that it repeats, in its words, and in JSON that is text of JSON so often. */
export function textsBehind(names: readonly string[], answer: string, depth = 4): readonly string[] {
  const found = names.flatMap((name) => [...textsBehindOne(name, answer)]);
  if (depth === 0 || !names.some((name) => answer.includes(`${name}\\`))) return found;
  return [...found, ...textsBehind(names, answer.replace(/\\(["\\/])/g, "$1"), depth - 1)];
}

function* textsBehindOne(name: string, answer: string): Generator<string> {
  for (let at = answer.indexOf(name); at >= 0; at = answer.indexOf(name, at)) {
    at += name.length;
    valueBehind.lastIndex = at;
    const [{ length } = "", quoted = '""', plain = ""] = valueBehind.exec(answer) ?? [];
    at += length;
    yield String(jsonIn(quoted) ?? "");
    // The sign that ends a plain value may also be a part of it. A short or plain word is a sentence's: `password:required`.
    const ended = plain.replace(/[,;&)}\]].*/s, "");
    if (/[^a-z]/i.test(ended)) yield* [plain, ended].filter((text) => text.length >= 6);
  }
}
