/** @module Validates a manifest from a program. */
import { noSecrets } from "../manifest/read-secret.ts";
import { ManifestError } from "../model/errors.ts";
import type { Problem } from "../model/problem.ts";
import { resolveProject } from "../project/project.ts";
import { newKey } from "../state/vault.ts";
import { projects } from "./handles.ts";
import { loadManifest, type ManifestRequest } from "./load-manifest.ts";

/** Returns errors and warnings, without network and without reading a secret. An empty list means valid. */
export async function validate(request: ManifestRequest = {}): Promise<readonly Problem[]> {
  try {
    const project = projects.get(await loadManifest(request));
    const { manifest } = await resolveProject(project, { key: newKey() }, noSecrets);
    return manifest.warnings;
  } catch (error) {
    if (error instanceof ManifestError) return error.problems;
    throw error;
  }
}
