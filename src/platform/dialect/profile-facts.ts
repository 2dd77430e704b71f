/** @module Reads values from a service profile of the package. */
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";

/**
 * A profile merged with the profiles that it extends. The folder is searched for upwards from this file, so that it is found from
 * the sources and from a build. The platform does not use the reconciler's own profile reader.
 */
export async function readProfileFacts(name: string): Promise<JsonObject> {
  const document: Json = parse(await profileText(name));
  const upper = isObject(document) ? document : {};
  const below = upper["extends"];
  return typeof below === "string" ? mergeOver(await readProfileFacts(below), upper) : upper;
}

/** A text inside a profile; throws where it is missing or no text. */
export function textAt(facts: JsonObject, ...path: readonly string[]): string {
  const found = path.reduce<Json | undefined>(
    (value, key) => (isObject(value) ? value[key] : undefined),
    facts,
  );
  if (typeof found === "string") return found;
  throw new Error(`the profile has no ${path.join(".")}`);
}

/** The text values of a map inside a profile. */
export function textsAt(facts: JsonObject, ...path: readonly string[]): { readonly [key: string]: string } {
  const found = path.reduce<Json | undefined>(
    (value, key) => (isObject(value) ? value[key] : undefined),
    facts,
  );
  const entries = Object.entries(isObject(found) ? found : {});
  return Object.fromEntries(
    entries.flatMap(([key, value]): [string, string][] => (typeof value === "string" ? [[key, value]] : [])),
  );
}

async function profileText(name: string): Promise<string> {
  for (const up of ["../", "../../", "../../../", "../../../../"]) {
    const path = new URL(`${up}profiles/${name}.yaml`, import.meta.url);
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text !== undefined) return text;
  }
  throw new Error(`the profile ${name} is not beside the program`);
}

function mergeOver(lower: JsonObject, upper: JsonObject): JsonObject {
  const merged = Object.entries(upper).map(([key, value]): [string, Json] => {
    const below = lower[key];
    return [key, isObject(value) && isObject(below) ? mergeOver(below, value) : value];
  });
  return { ...lower, ...Object.fromEntries(merged) };
}
