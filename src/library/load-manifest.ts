/** @module Reads a manifest for a program. */
import { openProject } from "../project/project.ts";
import { projects } from "./behind.ts";

/** How a manifest is read. */
export interface ManifestRequest {
  /** Manifest files or folders; `graphform.yaml` in the current folder without them. Later files are laid over earlier ones. */
  readonly files?: readonly string[];
  readonly variables?: { readonly [name: string]: string };
  readonly variableFiles?: readonly string[];
  /** A built-in profile's name, or a file; the manifest's own without it. */
  readonly profile?: string;
}

/** A manifest that was read and whose header holds. What it declares is resolved by `plan`, `apply` and `validate`. */
export interface LoadedManifest {
  readonly name: string;
  /** Paths of its files. */
  readonly files: readonly string[];
}

/** Reads a manifest. Throws `ManifestError`, whose `problems` name file, line and column. */
export async function loadManifest(request: ManifestRequest = {}): Promise<LoadedManifest> {
  const { files = [], variables = {}, variableFiles = [], profile } = request;
  const project = await openProject({
    file: files,
    var: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    varFile: variableFiles,
    ...(profile === undefined ? {} : { profile }),
  });
  const manifest: LoadedManifest = { name: project.header.name, files: project.files };
  projects.keep(manifest, project);
  return manifest;
}
