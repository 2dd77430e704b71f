/** @module Compares a valid manifest with the values that the service offers today. */
import { canCheckOffer, checkOffer } from "../kinds/offered-parameters.ts";
import { GraphformError, type Problem } from "../model/errors.ts";
import { learnSecretsAtHand } from "../project/open-run.ts";
import { checkedManifest, openProject } from "../project/project.ts";
import { escapeText } from "../report/typeset.ts";
import { type Invocation, type OpenService, withService } from "./with-run.ts";

/** Problems of declared values that are not offered today. Throws `not-offered` if the profile cannot ask the service. */
export async function offerProblems(invocation: Invocation): Promise<readonly Problem[]> {
  const { options, settings, terminal } = invocation;
  const project = await openProject(options, settings);
  await learnSecretsAtHand(project, settings);
  const { desired } = await checkedManifest(project);
  const work = async ({ service, signal }: OpenService): Promise<readonly Problem[]> => {
    if (!canCheckOffer(service))
      throw new GraphformError(
        "not-offered",
        `profile ${service.profile.name} has no operation plans.parameters to ask the service with`,
        { hint: "leave --online out, or use a profile that has it" },
      );
    const { findings, notCompared } = await checkOffer(desired, service, signal);
    for (const line of notCompared) terminal.err(`${escapeText(line, 400)}\n`);
    return findings.map(
      ({ desired: { address, where }, message, hint }): Problem => ({
        code: "not-offered-today",
        severity: "error",
        message,
        hint,
        address,
        range: where(),
      }),
    );
  };
  return withService(invocation, work, project);
}
