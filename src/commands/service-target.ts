/** @module Finds the service for commands that also work without a manifest. */
import { loadProfile } from "../hosting/profile/load-profile.ts";
import { ManifestError } from "../model/errors.ts";
import { learnSecretsAtHand } from "../project/learn-secrets.ts";
import type { ServiceTarget } from "../project/locate-service.ts";
import { openProject } from "../project/project.ts";
import type { Settings } from "../project/settings.ts";
import type { ManifestOptions } from "./options.ts";

/**
 * Returns the service of the manifest, whose secrets are known from now on. Without a manifest, options, environment and local platform
 * decide. Throws `ManifestError` if a manifest exists, or is named, and cannot be read.
 */
export async function serviceTarget(
  options: ManifestOptions,
  settings: Settings,
  name = "none",
): Promise<ServiceTarget> {
  try {
    const project = await openProject(options, settings);
    await learnSecretsAtHand(project, settings);
    return { header: project.header, profile: project.profile, folder: project.folder };
  } catch (error) {
    if (options.file.length > 0 || !isMissing(error)) throw error;
    return {
      header: { name, state: {} },
      profile: await loadProfile(options.profile ?? "default"),
      folder: ".",
    };
  }
}

/** True if the only problem is that there is no manifest. */
function isMissing(error: unknown): boolean {
  return error instanceof ManifestError && error.problems.every((problem) => problem.code === "missing-file");
}
