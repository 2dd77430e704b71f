/** @module Validates a manifest without network, or also against the service. */
import { exitCodes, ownError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { Problem } from "../model/problem.ts";
import { manifestProblems, openProject, type Project } from "../project/project.ts";
import type { ManifestOptions } from "./options.ts";
import { assertReportFiles } from "./reports/write-report.ts";
import type { Invocation } from "./with-run.ts";

/** Options of `validate`. */
export interface ValidateOptions extends ManifestOptions {
  readonly json?: boolean;
  /** Also compares with the values that the service offers today. */
  readonly online?: boolean;
  /** File of a report in the format SARIF. */
  readonly sarif?: string;
}

/**
 * `validate`: prints every problem of a manifest, without network and without reading a secret. With `--online` a valid
 * manifest is also compared with the values that the service offers today. With --json an error outside of the manifest, such as an
 * unknown profile, is a document too.
 */
export async function validate(invocation: Invocation<ValidateOptions>): Promise<number> {
  const { options, settings, terminal } = invocation;
  const { json = false, sarif, file } = options;
  assertReportFiles({ sarif });
  const context = { sarif, manifest: file, settings, terminal };
  const print = async (document: JsonObject): Promise<void> => {
    const { jsonText } = await import("../report/json-text.ts");
    terminal.out(`${jsonText(document, 2)}\n`);
  };
  const reports = () => import("./reports/problem-reports.ts");
  const problems = await allProblems(invocation).catch(async (thrown: unknown) => {
    const error = ownError(thrown, settings.secrets.hide);
    if (json) await print((await import("../report/problems-json.ts")).erroredValidationJson(error));
    await (await reports()).writeFailureReports(error, context);
    throw error;
  });
  await (await reports()).writeProblemReports(problems, context);
  const isValid = problems.every((problem) => problem.severity !== "error");
  if (json) await print((await import("../report/problems-json.ts")).problemsJson(problems));
  else if (problems.length > 0) {
    const { printValidation } = await import("./terminal/print-problems.ts");
    printValidation(problems, terminal);
  }
  if (isValid && !json) terminal.out("The manifest is valid.\n");
  return isValid ? exitCodes.done : exitCodes.invalid;
}

/** The problems of a manifest, and with --online those of what the service offers. Gives the manifest away as soon as it is open. */
export async function allProblems(
  invocation: Invocation<ValidateOptions>,
  opened: (project: Project) => Promise<void> = async () => undefined,
): Promise<readonly Problem[]> {
  const { options, settings } = invocation;
  const problems = await manifestProblems(async () => {
    const project = await openProject(options, settings);
    await opened(project);
    return project;
  });
  if (options.online !== true || problems.some((problem) => problem.severity === "error")) return problems;
  const { offerProblems } = await import("./offer-problems.ts");
  return [...problems, ...(await offerProblems(invocation))];
}
