/** @module Converts paths of files to paths in the repository, for reports that other tools read. */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Settings } from "../project/settings.ts";

/**
 * Converts a path to one relative to the root of the repository, with slashes: GitHub's or GitLab's working copy in a pipeline, the
 * current folder otherwise. A file outside of it keeps its absolute path.
 */
export function repositoryPath(settings: Settings): (file: string) => string {
  const root = resolve(settings.get("githubWorkspace") ?? settings.get("ciProjectDir") ?? ".");
  return (file) => {
    const path = relative(root, resolve(file));
    const isOutside = path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
    return (isOutside ? resolve(file) : path).replaceAll("\\", "/");
  };
}

/** Converts paths like `repositoryPath`; relative ones are those of a folder below the current one. */
export function pathIn(settings: Settings, folder: string): (file: string) => string {
  const pathOf = repositoryPath(settings);
  return (file) => pathOf(resolve(folder, file));
}

/** Converts a path like `repositoryPath`, to a URI: a relative one, or that of a file outside of the repository. */
export function repositoryUri(settings: Settings): (file: string) => string {
  const pathOf = repositoryPath(settings);
  return (file) => {
    const path = pathOf(file);
    return isAbsolute(path)
      ? pathToFileURL(path).href
      : path
          .split("/")
          .map((part) => encodeURIComponent(part.toWellFormed()))
          .join("/");
  };
}
