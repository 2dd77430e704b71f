/** @module Validates manifests without network, or also against the service. */
import { type ExitCode, exitCodes, ownError, worseExit } from "../model/errors.ts";
import type { Problem } from "../model/problem.ts";
import { manifestProblems, openProject, type Project } from "../project/project.ts";
import { problemAnnotations } from "../report/github/annotations.ts";
import { erroredValidationJson, problemsJson } from "../report/problems.ts";
import { problemFindings } from "../report/sarif/problem-findings.ts";
import { exitOf, type ManifestResult, severalJson } from "../report/several/manifest-result.ts";
import { escapeText, jsonText } from "../report/typeset.ts";
import { amount } from "../report/words.ts";
import { inEachFolder } from "./folders.ts";
import { printLines } from "./reports/run-report.ts";
import { assertReportFiles } from "./reports/write-report.ts";
import { type Findings, writeFindings } from "./reports/write-reports.ts";
import { printError } from "./terminal/print-error.ts";
import { printValidation } from "./terminal/print-problems.ts";
import type { Terminal } from "./terminal/terminal.ts";
import type { Invocation, ManifestOptions } from "./with-run.ts";

export interface ValidateOptions extends ManifestOptions {
  readonly online?: boolean;
  readonly sarif?: string;
}

/** The findings of a validation are its problems. */
const kind: Findings<readonly Problem[]> = {
  findings: problemFindings,
  annotations: problemAnnotations,
  whole: "graphform validate shows all problems",
};

/**
 * `validate`: prints every problem of a manifest, without network and without reading a secret. With `--online` a valid
 * manifest is also compared with the values that the service offers today. With --json an error outside of the manifest, such as an
 * unknown profile, is a document too.
 */
export async function validate(invocation: Invocation<ValidateOptions>): Promise<number> {
  const { options, settings, terminal } = invocation;
  const { json = false, sarif, file: manifest } = options;
  assertReportFiles({ sarif });
  const write = (result: Result): Promise<void> =>
    writeFindings([result], kind, sarif, { settings, terminal, manifest });
  const place = { folder: ".", name: "" };
  const problems = await allProblems(invocation).catch(async (thrown: unknown) => {
    const error = ownError(thrown, settings.secrets.hide);
    if (json) terminal.out(`${jsonText(erroredValidationJson(error), 2)}\n`);
    await write({ ...place, is: "failed", error });
    throw error;
  });
  await write({ ...place, is: "made", value: problems });
  const isValid = problems.every((problem) => problem.severity !== "error");
  if (json) terminal.out(`${jsonText(problemsJson(problems), 2)}\n`);
  else if (problems.length > 0) printValidation(problems, terminal);
  if (isValid && !json) terminal.out("The manifest is valid.\n");
  return isValid ? exitCodes.done : exitCodes.invalid;
}

/** The problems of a manifest, and with --online those of what the service offers. Gives the manifest away as soon as it is open. */
async function allProblems(
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

type Result = ManifestResult<readonly Problem[]>;

/** `validate` with several --chdir: checks each manifest as if started in its folder. Exits with the worst code. */
export async function validateSeveral(
  invocation: Invocation<ValidateOptions>,
  folders: readonly string[],
): Promise<number> {
  const { options, settings, terminal } = invocation;
  const { sarif } = options;
  assertReportFiles({ sarif });
  const results = await inEachFolder(folders, settings, (opened) => allProblems(invocation, opened));
  await writeFindings(results, kind, sarif, { settings, terminal });
  const codes = results.map(codeOf);
  const failed = results.filter(({ is }) => is === "failed").length;
  const invalid = results.filter((one) => one.is === "made" && codeOf(one) === exitCodes.invalid).length;
  const manifests = results.length;
  const summary = { manifests, valid: manifests - failed - invalid, invalid, failed };
  if (options.json === true) {
    const documents = { key: "validation", exit: codeOf, made: problemsJson, summary } as const;
    terminal.out(`${jsonText(severalJson(results, { ...documents, failed: erroredValidationJson }), 2)}\n`);
  } else await print(results, summary, terminal);
  return worseExit(codes);
}

function codeOf(result: Result): ExitCode {
  return exitOf(result, (problems) =>
    problems.some(({ severity }) => severity === "error") ? exitCodes.invalid : exitCodes.done,
  );
}

async function print(
  results: readonly Result[],
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
  const said = (result: Result): string =>
    result.is === "failed" ? "failed" : codeOf(result) === exitCodes.done ? "valid" : "invalid";
  printLines(results, said, terminal);
  const counts = Object.entries({ valid, invalid, failed }).filter(([, count]) => count !== 0);
  const words = counts.map(([word, count]) => `${count} ${word}`).join(", ");
  terminal.out(`${amount(manifests ?? 0, "manifest")}: ${words}.\n`);
}
