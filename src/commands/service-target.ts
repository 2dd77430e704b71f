import { loadProfile } from "../hosting/profile.ts";
import { ManifestError } from "../model/errors.ts";
import { openProject } from "../project/project.ts";
import type { ServiceTarget } from "../project/service-target.ts";
import { maskSecrets } from "./mask-secrets.ts";
import type { ManifestOptions } from "./options.ts";
import type { Terminal } from "./terminal.ts";

/**
 * The service that is meant: that of the manifest where there is one, whose secrets are masked from now on; otherwise
 * options, environment and the local platform have to say it. Throws where a manifest is there, or was named, and cannot
 * be read.
 */
export async function serviceTarget(
  options: ManifestOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
  name = "none",
): Promise<ServiceTarget> {
  try {
    const project = await openProject(options);
    const { foreign: hide } = await maskSecrets(project, env, terminal);
    return { header: project.header, profile: project.profile, folder: project.folder, hide };
  } catch (error) {
    if (options.file.length > 0 || !isMissing(error)) throw error;
    return {
      header: { name, state: {} },
      profile: await loadProfile(options.profile ?? "default"),
      folder: ".",
    };
  }
}

/** True where all that is wrong is that there is no manifest. */
function isMissing(error: unknown): boolean {
  return error instanceof ManifestError && error.problems.every((problem) => problem.code === "missing-file");
}
