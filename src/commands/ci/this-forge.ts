/** @module Finds the forge whose pipeline this process runs in. */
import type { Clock } from "../../model/clock.ts";
import { GraphformError } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import type { Forge } from "./forge.ts";

/** GitHub or GitLab, whichever has set its variables. Throws `forge-unknown` outside of a pipeline. */
export async function forgeOf(settings: Settings, clock: Clock): Promise<Forge> {
  if (settings.get("githubActions") === "true") {
    const { github } = await import("./github.ts");
    return github(settings, clock);
  }
  if (settings.get("gitlabCi") === "true") {
    const { gitlab } = await import("./gitlab.ts");
    return gitlab(settings, clock);
  }
  throw new GraphformError("forge-unknown", "this is neither a job of GitHub Actions nor one of GitLab", {
    hint: "GITHUB_ACTIONS or GITLAB_CI is true there",
  });
}
