/** @module Compares a valid manifest with the values that the service offers today. */
import { canCheckOffer, checkOffer } from "../kinds/offered-parameters.ts";
import { GraphformError } from "../model/errors.ts";
import type { Problem } from "../model/problem.ts";
import { checkedManifest } from "../project/project.ts";
import type { Settings } from "../project/settings.ts";
import { escapeText } from "../report/escape.ts";
import type { ManifestOptions } from "./options.ts";
import { withService } from "./service-work.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Problems of declared values that are not offered today. Throws `not-offered` if the profile cannot ask the service. */
export function offerProblems(
  options: ManifestOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<readonly Problem[]> {
  return withService(options, settings, terminal, async ({ project, service, signal }) => {
    if (!canCheckOffer(service)) {
      throw new GraphformError(
        "not-offered",
        `profile ${service.profile.name} has no operation plans.parameters to ask the service with`,
        { hint: "leave --online out, or use a profile that has it" },
      );
    }
    const manifest = await checkedManifest(project);
    const { findings, notCompared } = await checkOffer(manifest.desired, service, signal);
    for (const line of notCompared) terminal.err(`${escapeText(line, 400)}\n`);
    return findings.map(({ desired, message, hint }): Problem => {
      const { address, where } = desired;
      return { code: "not-offered-today", severity: "error", message, hint, address, range: where };
    });
  });
}
