/** @module Compares the places of the states of a repository's manifests: a pipeline is written only for one that shares none. */
import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { kinds } from "../../kinds/index.ts";
import { parseManifest } from "../../manifest/parse.ts";
import { readHeader } from "../../manifest/read-header.ts";
import { validators } from "../../manifest/validators.generated.js";
import { assertOwnState, locateState, placeOf } from "../../project/locate-state.ts";
import { repositoryOf } from "../../project/manifest-identity.ts";
import { settingsOf } from "../../project/settings.ts";

/** Folders that are searched for manifests at most. */
const mostFolders = 2000;

/**
 * Throws `state-shared` where another manifest of the repository keeps its state in the place of this one. Only manifests are compared
 * that stand in one file, and whose place needs no variable.
 */
export async function assertStateOfItsOwn(file: string, text: string): Promise<void> {
  const [place, root] = [await declaredPlace(file, text), repositoryOf(resolve("."))];
  if (place === undefined || root === undefined) return;
  for (const other of await yamlFilesIn(root)) {
    if (resolve(other) === resolve(file)) continue;
    const its = await readFile(other, "utf8").then((found) => declaredPlace(other, found));
    assertOwnState(its === place ? relative(".", other) : undefined, file, place);
  }
}

/** The place that a manifest declares, as a command in its folder would read it; undefined where it cannot be known. */
async function declaredPlace(file: string, text: string): Promise<string | undefined> {
  const { header } = readHeader(parseManifest([{ path: file, text }]), { kinds, validators, variables: {} });
  if (header === undefined) return undefined;
  const folder = dirname(resolve(file));
  const location = locateState(header, folder, undefined, settingsOf({}));
  return placeOf(location.type === "file" ? { ...location, path: resolve(folder, location.path) } : location);
}

async function yamlFilesIn(root: string): Promise<readonly string[]> {
  const [folders, found]: [string[], string[]] = [[root], []];
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    found.push(...entries.filter(isYaml).map(({ name }) => join(folder, name)));
    const inner = entries.filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name));
    if (folders.length + inner.length <= mostFolders)
      folders.push(...inner.map(({ name }) => join(folder, name)));
  }
  return found.sort();
}

function isYaml(entry: Dirent): boolean {
  return entry.isFile() && entry.name.endsWith(".yaml");
}
