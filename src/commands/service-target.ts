import { loadProfile } from "../hosting/profile.ts";
import type { Hide } from "../hosting/service-options.ts";
import { ManifestError } from "../model/errors.ts";
import { maskSecrets } from "./mask-secrets.ts";
import type { ManifestOptions } from "./options.ts";
import { openProject, type Project } from "./project.ts";
import type { Terminal } from "./terminal.ts";

/** What a service is found by. */
export interface ServiceTarget extends Pick<Project, "header" | "profile" | "folder"> {
  /** Hides the secrets of the run in what the service says in its own words. */
  readonly hide?: Hide;
}

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
