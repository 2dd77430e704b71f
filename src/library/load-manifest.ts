/** @module Loads a manifest for a program. */

import { join } from "node:path";
import process from "node:process";
import { defined, type JsonObject } from "../model/json.ts";
import { openProject } from "../project/project.ts";
import { settingsOf } from "../project/settings.ts";
import { projects } from "./handles.ts";

/** Input of `loadManifest`. */
export interface ManifestRequest {
  /** Manifest files or folders; default `graphform.yaml` in the current folder, unless there are `objects`. Later files override earlier ones. */
  readonly files?: readonly string[];
  /** Layers as plain data, laid over the files: what a manifest in JSON would hold. */
  readonly objects?: readonly JsonObject[];
  /** Folder that a manifest of objects alone stands in: its state is kept there. Default: the current folder. */
  readonly folder?: string;
  readonly variables?: { readonly [name: string]: string };
  readonly variableFiles?: readonly string[];
  /** Name of a built-in profile, or a file; default is that of the manifest. */
  readonly profile?: string;
  /** Environment with the place of the state and the credentials for it; default is that of the process. */
  readonly env?: { readonly [name: string]: string | undefined };
}

/** A manifest with a valid header. `plan`, `apply` and `validate` resolve its resources. */
export interface LoadedManifest {
  readonly name: string;
  /** Paths of its files. */
  readonly files: readonly string[];
}

/** Reads a manifest. Throws `ManifestError`; its `problems` have file, line and column. */
export async function loadManifest(request: ManifestRequest = {}): Promise<LoadedManifest> {
  const { files = [], objects = [], folder = "." } = request;
  const { variables = {}, variableFiles = [], profile, env = process.env } = request;
  const settings = settingsOf(env);
  const options = {
    file: files,
    var: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    varFile: variableFiles,
    ...defined({ profile }),
  };
  const layers = objects.map((layer, at) => ({
    path: join(folder, `object-${at + 1}.json`),
    text: JSON.stringify(layer, null, 2),
  }));
  const project = await openProject(options, settings, layers);
  const manifest: LoadedManifest = { name: project.header.name, files: project.files };
  projects.set(manifest, { ...project, settings });
  return manifest;
}
