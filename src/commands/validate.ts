/** @module Validates manifests without network, or also against the service. */
import { exitCodes, ownError, type Problem, worseExit } from "../model/errors.ts";
import { manifestProblems, namedFiles, openProject } from "../project/project.ts";
import { problemAnnotations } from "../report/annotations.ts";
import {
  type Attempt,
  countSeveral,
  type Documents,
  exitOf,
  type ManifestResult,
  severalJson,
} from "../report/manifest-result.ts";
import { erroredValidationJson, problemsJson } from "../report/problems.ts";
import { problemFindings } from "../report/sarif/problem-findings.ts";
import { escapeText, jsonText } from "../report/typeset.ts";
import { amount } from "../report/words.ts";
import { inEachFolder, type Opened } from "./folders.ts";
import { assertReportFiles } from "./reports/report-files.ts";
import { printLines } from "./reports/run-report.ts";
import { type Findings, writeFindings } from "./reports/write-reports.ts";
import { printError } from "./terminal/print-error.ts";
import { printValidation } from "./terminal/print-problems.ts";
import type { Terminal } from "./terminal/terminal.ts";
import type { Invocation, ManifestOptions } from "./with-run.ts";

interface ValidateOptions extends ManifestOptions {
  readonly online?: boolean;
  readonly sarif?: string;
}

/** The findings of a validation are its problems. */
const kind: Findings<readonly Problem[]> & Documents<readonly Problem[]> = {
  findings: problemFindings,
  annotations: problemAnnotations,
  whole: "graphform validate shows all problems",
  exit: (problems) =>
    problems.some(({ severity }) => severity === "error") ? exitCodes.invalid : exitCodes.done,
  json: problemsJson,
  failedJson: erroredValidationJson,
};

/**
 * `validate`: prints every problem of a manifest, without network and without reading a secret; with --online also those of what the service
 * offers today. With several --chdir it checks each manifest as if started in its folder, and exits with the worst code. With --json an error
 * outside of the manifest, such as an unknown profile, is a document too.
 */
export async function validate(invocation: Invocation<ValidateOptions>): Promise<number> {
  const { options, settings, terminal, folders = [] } = invocation;
  const { json = false, sarif, file: manifest } = options;
  await assertReportFiles({ sarif }, namedFiles(options));
  if (folders.length > 1) return validateSeveral(invocation, folders);
  const write = (attempt: Attempt<readonly Problem[]>): Promise<void> =>
    writeFindings([{ folder: ".", name: "", ...attempt }], kind, sarif, { settings, terminal, manifest });
  const problems = await allProblems(invocation).catch(async (thrown: unknown) => {
    const error = ownError(thrown, settings.secrets.hide);
    if (json) terminal.out(`${jsonText(erroredValidationJson(error), 2)}\n`);
    await write({ is: "failed", error });
    throw error;
  });
  await write({ is: "made", value: problems });
  const code = kind.exit(problems);
  if (json) terminal.out(`${jsonText(problemsJson(problems), 2)}\n`);
  else if (problems.length > 0) printValidation(problems, terminal);
  if (code === exitCodes.done && !json) terminal.out("The manifest is valid.\n");
  return code;
}

/** The problems of a manifest, and with --online those of what the service offers. Gives the manifest away as soon as it is open. */
async function allProblems(
  invocation: Invocation<ValidateOptions>,
  opened: Opened = async () => undefined,
): Promise<readonly Problem[]> {
  const { options, settings } = invocation;
  const problems = await manifestProblems(async () => {
    const project = await openProject(options, settings);
    await opened(project);
    return project;
  });
  if (options.online !== true || kind.exit(problems) !== exitCodes.done) return problems;
  const { offerProblems } = await import("./offer-problems.ts");
  return [...problems, ...(await offerProblems(invocation))];
}

async function validateSeveral(
  invocation: Invocation<ValidateOptions>,
  folders: readonly string[],
): Promise<number> {
  const { options, settings, terminal } = invocation;
  const results = await inEachFolder(folders, settings, (opened) => allProblems(invocation, opened));
  await writeFindings(results, kind, options.sarif, { settings, terminal });
  const {
    manifests,
    changed: invalid,
    unchanged: valid,
    failed,
  } = countSeveral(results, (problems) => kind.exit(problems) !== exitCodes.done);
  const summary = { manifests, valid, invalid, failed };
  if (options.json === true)
    terminal.out(`${jsonText(severalJson("validation", results, kind, summary), 2)}\n`);
  else await print(results, summary, terminal);
  return worseExit(results.map((result) => exitOf(result, kind.exit)));
}

async function print(
  results: readonly ManifestResult<readonly Problem[]>[],
  { manifests, valid, invalid, failed }: { readonly [count: string]: number },
  terminal: Terminal,
): Promise<void> {
  for (const result of results) {
    if (result.is === "made" && result.value.length === 0) continue;
    terminal.err(`In ${escapeText(result.folder, 300)}\n\n`);
    if (result.is === "made") printValidation(result.value, terminal);
    else await printError(result.error, terminal);
    terminal.err("\n");
  }
  const said = (result: ManifestResult<readonly Problem[]>): string =>
    result.is === "failed" ? "failed" : kind.exit(result.value) === exitCodes.done ? "valid" : "invalid";
  printLines(results, said, terminal);
  const counts = Object.entries({ valid, invalid, failed }).filter(([, count]) => count !== 0);
  const words = counts.map(([word, count]) => `${count} ${word}`).join(", ");
  terminal.out(`${amount(manifests ?? 0, "manifest")}: ${words}.\n`);
}
