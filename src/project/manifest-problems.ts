/** @module Checks a manifest without network and without reading a secret. */
import { noSecrets } from "../manifest/read-secret.ts";
import { ManifestError } from "../model/errors.ts";
import type { Manifest } from "../model/manifest.ts";
import type { Problem } from "../model/problem.ts";
import { newKey } from "../state/vault.ts";
import { type Project, resolveProject } from "./project.ts";

/** Checks a manifest: its errors and warnings. `open` may throw `ManifestError`; any other error is thrown on. */
export async function manifestProblems(open: () => Promise<Project>): Promise<readonly Problem[]> {
  try {
    return (await checkedManifest(await open())).warnings;
  } catch (error) {
    if (error instanceof ManifestError) return error.problems;
    throw error;
  }
}

/** Resolves a manifest with secrets that stay unread. Throws `ManifestError`. */
export async function checkedManifest(project: Project): Promise<Manifest> {
  const { manifest } = await resolveProject(project, { key: newKey() }, noSecrets);
  return manifest;
}
