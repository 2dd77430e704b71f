/** @module Finds the addresses of a manifest and of its state without any network. */

import { readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { kinds } from "../../kinds/index.ts";
import { loadManifest } from "../../manifest/load.ts";
import { parseManifest } from "../../manifest/parse.ts";
import { isObject } from "../../model/json.ts";
import { locateState } from "../../project/locate-state.ts";
import type { Settings } from "../../project/settings.ts";
import type { Place } from "./resolved-addresses.ts";

/** Addresses that are declared or recorded, sorted. A manifest with problems gives the names of its sections. No secret is read. */
export async function knownAddresses(place: Place, settings: Settings): Promise<readonly string[]> {
  const { sources, problems } = await loadManifest(place.file.length === 0 ? ["graphform.yaml"] : place.file);
  if (problems.length > 0) return [];
  const value = parseManifest(sources).value ?? {};
  const quick = hasForEach(value)
    ? undefined
    : await plainlyRecorded(value, dirname(sources[0]?.path ?? ""), place.state, settings);
  const found =
    quick === undefined
      ? await (await import("./resolved-addresses.ts")).resolvedAddresses(place, namesIn(value), settings)
      : [...namesIn(value), ...quick];
  return [...new Set(found)].toSorted();
}

type Document = { readonly [key: string]: unknown };

function namesIn(document: Document): readonly string[] {
  return kinds.all.flatMap(({ name: section }) => {
    const block = document[section];
    return isObject(block) ? Object.keys(block).map((name) => `${section}.${name}`) : [];
  });
}

/** True where addresses have keys, so that the manifest must be resolved to know them. */
function hasForEach(document: Document): boolean {
  const blocks = kinds.all.map(({ name }) => document[name]).filter(isObject);
  return blocks.some((block) =>
    Object.values(block).some((resource) => isObject(resource) && Object.hasOwn(resource, "forEach")),
  );
}

/**
 * Addresses in a state that is one whole document, read without the checks that a run makes: a shell waits for them at every key.
 * Undefined where the state must be opened to know them: its place has an expression, or a log stands beside it.
 */
async function plainlyRecorded(
  { name, state }: Document,
  folder: string,
  given: string | undefined,
  settings: Settings,
): Promise<readonly string[] | undefined> {
  const section = isObject(state) ? state : {};
  if (typeof name !== "string" || `${name}${JSON.stringify(section)}`.includes("${")) return undefined;
  const found = locateState({ name, state: section }, folder, given, settings);
  // Nobody waits for another host while they type.
  if (found.type !== "file") return [];
  const text = await readFile(found.path, "utf8").catch(() => "{}");
  const document = parsed(text);
  if (document["version"] === 3) return undefined;
  return ["resources", "intents"].flatMap((part) => {
    const entries = document[part];
    return isObject(entries) ? Object.keys(entries) : [];
  });
}

function parsed(text: string): Document {
  try {
    const document: unknown = JSON.parse(text);
    return isObject(document) ? document : {};
  } catch {
    return {};
  }
}

/** Folders beside the last part of a path, each with a slash at its end; hidden ones where the path asks for them. */
export function foldersAt(current: string): readonly string[] {
  const above = current.slice(0, current.lastIndexOf("/") + 1);
  const begun = current.slice(above.length);
  const names = readdirSync(above === "" ? "." : above).filter(
    (name) => name.startsWith(begun) && (begun.startsWith(".") || !name.startsWith(".")),
  );
  return names
    .map((name) => `${above}${name}/`)
    .filter((folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true)
    .toSorted();
}
