/** @module Validates a manifest from a program. */
import type { Problem } from "../model/problem.ts";
import { manifestProblems } from "../project/project.ts";
import { projects } from "./handles.ts";
import { loadManifest, type ManifestRequest } from "./load-manifest.ts";

/** Returns errors and warnings, without network and without reading a secret. An empty list means valid. */
export async function validate(request: ManifestRequest = {}): Promise<readonly Problem[]> {
  return manifestProblems(async () => projects.get(await loadManifest(request)));
}
