/** @module Validates a manifest without network, or also against the service. */
import { exitCodes, type GraphformError, ownError } from "../model/errors.ts";
import type { Problem } from "../model/problem.ts";
import { manifestProblems, openProject, type Project } from "../project/project.ts";
import type { Settings } from "../project/settings.ts";
import type { ManifestOptions } from "./options.ts";
import { assertReportFiles } from "./reports/write-report.ts";
import type { Terminal } from "./terminal/terminal.ts";

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
 * manifest is also compared with the values that the service offers today.
 */
export async function validate(
  options: ValidateOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { json, sarif, file } = options;
  assertReportFiles({ sarif });
  const context = { sarif, manifest: file, settings, terminal };
  const reports = () => import("./reports/problem-reports.ts");
  const problems = await allProblems(options, settings, terminal).catch(async (thrown: unknown) => {
    const error = ownError(thrown, settings.secrets.hide);
    if (json === true) await printErrored(error, terminal);
    await reports().then(({ writeFailureReports }) => writeFailureReports(error, context));
    throw error;
  });
  const { writeProblemReports } = await reports();
  await writeProblemReports(problems, context);
  const valid = problems.every((problem) => problem.severity !== "error");
  if (options.json === true) {
    const { problemsJson } = await import("../report/problems-json.ts");
    const { jsonText } = await import("../report/json-text.ts");
    terminal.out(`${jsonText(problemsJson(problems), 2)}\n`);
  } else if (problems.length > 0) {
    const { printValidation } = await import("./terminal/print-problems.ts");
    printValidation(problems, terminal);
  }
  if (valid && options.json !== true) terminal.out("The manifest is valid.\n");
  return valid ? exitCodes.done : exitCodes.invalid;
}

/** The problems of a manifest, and with --online those of what the service offers. Gives the manifest away as soon as it is open. */
export async function allProblems(
  options: ValidateOptions,
  settings: Settings,
  terminal: Terminal,
  opened: (project: Project) => Promise<void> = async () => undefined,
): Promise<readonly Problem[]> {
  const problems = await manifestProblems(async () => {
    const project = await openProject(options, settings);
    await opened(project);
    return project;
  });
  if (options.online !== true || problems.some((problem) => problem.severity === "error")) return problems;
  const { offerProblems } = await import("./offer-problems.ts");
  return [...problems, ...(await offerProblems(options, settings, terminal))];
}

/** Prints a JSON document for errors outside of the manifest too, such as an unknown profile. */
async function printErrored(error: GraphformError, terminal: Terminal): Promise<void> {
  const { erroredValidationJson } = await import("../report/error-json.ts");
  const { jsonText } = await import("../report/json-text.ts");
  terminal.out(`${jsonText(erroredValidationJson(error), 2)}\n`);
}
