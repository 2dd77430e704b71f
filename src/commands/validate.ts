import { noSecrets } from "../manifest/read-secret.ts";
import { exitCodes, ManifestError } from "../model/errors.ts";
import type { Problem } from "../model/problem.ts";
import { openProject, resolveProject } from "../project/project.ts";
import { newKey } from "../state/vault.ts";
import type { ManifestOptions } from "./options.ts";
import type { Terminal } from "./terminal.ts";

/** What `validate` was told. */
export interface ValidateOptions extends ManifestOptions {
  readonly json?: boolean;
  /** Asks the service too what it offers today. */
  readonly online?: boolean;
}

/**
 * `validate`: every problem of a manifest, without network and without reading a secret. With `--online` what is valid so far
 * is compared with what the service offers today.
 */
export async function validate(
  options: ValidateOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const problems = await allProblems(options, env, terminal).catch(async (error: unknown) => {
    if (options.json === true) await printErrored(error, terminal);
    throw error;
  });
  const valid = problems.every((problem) => problem.severity !== "error");
  if (options.json === true) {
    const { problemsJson } = await import("../report/problems-json.ts");
    const { jsonText } = await import("../report/json-text.ts");
    terminal.out(`${jsonText(problemsJson(problems), 2)}\n`);
  } else if (problems.length > 0) {
    const { printValidation } = await import("./print-problems.ts");
    printValidation(problems, terminal);
  }
  if (valid && options.json !== true) terminal.out("The manifest is valid.\n");
  return valid ? exitCodes.done : exitCodes.invalid;
}

async function allProblems(
  options: ValidateOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<readonly Problem[]> {
  const problems = await problemsOf(options);
  if (options.online !== true || problems.some((problem) => problem.severity === "error")) return problems;
  const { offerProblems } = await import("./offer-problems.ts");
  return [...problems, ...(await offerProblems(options, env, terminal))];
}

/** A document in any case: what is wrong may be the profile, or an option. */
async function printErrored(error: unknown, terminal: Terminal): Promise<void> {
  const { erroredValidationJson } = await import("../report/error-json.ts");
  const { jsonText } = await import("../report/json-text.ts");
  terminal.out(`${jsonText(erroredValidationJson(error), 2)}\n`);
}

async function problemsOf(options: ManifestOptions): Promise<readonly Problem[]> {
  try {
    const project = await openProject(options);
    const { manifest } = await resolveProject(project, { key: newKey() }, noSecrets);
    return manifest.warnings;
  } catch (error) {
    if (error instanceof ManifestError) return error.problems;
    throw error;
  }
}
