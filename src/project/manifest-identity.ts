/** @module Finds out which manifest a run is for: by its declared environment, and by its place in a Git repository. */

import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { defined } from "../model/json.ts";
import type { Header } from "../model/manifest.ts";
import type { ManifestIdentity } from "../model/service-identity.ts";

/**
 * The identity of the manifest in these files. Never an absolute path: working copies stand anywhere. Paths are unknown if a
 * file is in no Git repository.
 */
export function manifestIdentity(
  { environment }: Pick<Header, "environment">,
  files: readonly string[],
): ManifestIdentity {
  const paths = files.flatMap((file) => pathInRepository(file) ?? []);
  return {
    ...defined({ environment }),
    ...(paths.length === 0 || paths.length < files.length ? {} : { paths }),
  };
}

/** The folder of the repository that a folder belongs to; undefined if there is none. */
export function repositoryOf(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

function pathInRepository(file: string): string | undefined {
  try {
    const path = resolve(file);
    const folder = realpathSync(dirname(path));
    const root = repositoryOf(folder);
    return root === undefined
      ? undefined
      : relative(root, join(folder, basename(path))).replaceAll("\\", "/");
  } catch {
    // Its folder is not there: a text that no file holds yet.
    return undefined;
  }
}
