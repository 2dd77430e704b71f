/** @module Finds the addresses of a manifest and of its state, and the folders at a path, without any network. */
import { readdirSync, statSync } from "node:fs";
import { kinds } from "../../kinds/index.ts";
import { loadManifest } from "../../manifest/load.ts";
import { parseManifest } from "../../manifest/parse.ts";
import { isObject } from "../../model/json.ts";
import { checkedManifest, namedFiles, openProject, type RunOptions } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";

export type ManifestPlace = Pick<RunOptions, "file" | "state" | "var" | "varFile">;

/** Addresses that are declared or recorded, sorted. A manifest with problems gives the names of its sections. No secret is read. */
export async function knownAddresses(place: ManifestPlace, settings: Settings): Promise<readonly string[]> {
  const { sources, problems } = await loadManifest(namedFiles(place));
  if (problems.length > 0) return [];
  const names = namesIn(parseManifest(sources).value ?? {});
  const project = await openProject(place, settings).catch(() => undefined);
  if (project === undefined) return names;
  const declared = await checkedManifest(project).then(
    ({ desired }) => desired.map(({ address }) => address),
    () => names,
  );
  // A key press waits for no other host.
  const isHere = project.location.type === "file";
  const state = isHere ? await project.store.read().catch(() => undefined) : undefined;
  return [...new Set([...declared, ...Object.keys({ ...state?.resources, ...state?.intents })])].toSorted();
}

function namesIn(document: { readonly [key: string]: unknown }): readonly string[] {
  return kinds.all.flatMap(({ name: section }) => {
    const block = document[section];
    return isObject(block) ? Object.keys(block).map((name) => `${section}.${name}`) : [];
  });
}

/** Folders beside the last part of a path, each with a slash at its end; hidden ones if the path asks for them. */
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
