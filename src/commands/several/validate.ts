/** @module Runs `validate` on several manifests: all problems of each, one report and one exit code. */
import { type ExitCode, exitCodes, worseExit } from "../../model/errors.ts";
import type { Problem } from "../../model/problem.ts";
import { escapeText } from "../../report/escape.ts";
import { problemAnnotations } from "../../report/github/annotations.ts";
import { jsonText } from "../../report/json-text.ts";
import { erroredValidationJson, problemsJson } from "../../report/problems-json.ts";
import { problemFindings } from "../../report/sarif/problem-findings.ts";
import { exitOf, type ManifestResult, severalJson } from "../../report/several/manifest-result.ts";
import { amount } from "../../report/words.ts";
import { assertReportFiles } from "../reports/write-report.ts";
import { printError } from "../terminal/print-error.ts";
import { printValidation } from "../terminal/print-problems.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { allProblems, type ValidateOptions } from "../validate.ts";
import type { Invocation } from "../with-run.ts";
import { inEachFolder } from "./folders.ts";
import { writeFindings } from "./reports.ts";

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
  const parts = { findings: problemFindings, annotations: problemAnnotations };
  await writeFindings(results, parts, sarif, { settings, terminal });
  const codes = results.map(codeOf);
  const failed = results.filter(({ is }) => is === "failed").length;
  const invalid = codes.filter((code) => code === exitCodes.invalid).length - invalidFailures(results);
  const manifests = results.length;
  const summary = { manifests, valid: manifests - failed - invalid, invalid, failed };
  if (options.json === true) {
    const documents = { key: "validation", exit: codeOf, made: problemsJson, summary } as const;
    terminal.out(`${jsonText(severalJson(results, { ...documents, failed: erroredValidationJson }), 2)}\n`);
  } else await print(results, summary, terminal);
  return worseExit(codes);
}

function codeOf(result: Result): ExitCode {
  if (result.is === "failed") return exitOf(result, () => false);
  return result.value.some(({ severity }) => severity === "error") ? exitCodes.invalid : exitCodes.done;
}

/** Failures with the exit code of an invalid manifest, such as a file of variables that cannot be read: they count as failed. */
function invalidFailures(results: readonly Result[]): number {
  return results.filter((result) => result.is === "failed" && codeOf(result) === exitCodes.invalid).length;
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
  const width = Math.max(...results.map(({ folder }) => folder.length));
  for (const result of results) {
    const said = result.is === "failed" ? "failed" : codeOf(result) === exitCodes.done ? "valid" : "invalid";
    terminal.out(`${escapeText(result.folder.padEnd(width), 300)}  ${said}\n`);
  }
  const counts = Object.entries({ valid, invalid, failed }).filter(([, count]) => count !== 0);
  const words = counts.map(([word, count]) => `${count} ${word}`).join(", ");
  terminal.out(`${amount(manifests ?? 0, "manifest")}: ${words}.\n`);
}
