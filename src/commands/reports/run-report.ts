/** @module Runs a command that reports, on one manifest or in each of several folders, and prints the result. */
import { resolve } from "node:path";
import { type ExitCode, ownError, worseExit } from "../../model/errors.ts";
import { namedFiles, type Project } from "../../project/project.ts";
import {
  type Attempt,
  countSeveral,
  exitOf,
  type ManifestResult,
  severalJson,
  severalLine,
} from "../../report/manifest-result.ts";
import { reportText } from "../../report/text/report-text.ts";
import { escapeText, jsonText, makePalette } from "../../report/typeset.ts";
import { inEachFolder, type Opened } from "../folders.ts";
import { printError } from "../terminal/print-error.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation, ManifestOptions } from "../with-run.ts";
import { assertReportFiles, filesRead } from "./report-files.ts";
import { type ReportKind, writeOwnFiles, writeReports } from "./write-reports.ts";

export interface ReportOptions extends ManifestOptions {
  readonly verbose?: boolean;
}

/** Makes the result of the manifest in the current folder, and gives the manifest away as soon as it is open. */
type Make<T> = (opened: Opened) => Promise<T>;

/**
 * Reports on the manifest in the current folder, or on that of each folder of --chdir as if started there, and returns the exit code of the
 * result, or the worst one. With several folders, every file but those of one manifest has all results. The failure of a single one is reported and thrown.
 */
export function report<T>(
  invocation: Invocation<ReportOptions>,
  kind: ReportKind<T>,
  make: Make<T>,
): Promise<ExitCode> {
  const { folders = [] } = invocation;
  return folders.length > 1
    ? reportSeveral(invocation, kind, folders, make)
    : reportOne(invocation, kind, make);
}

async function reportOne<T>(
  invocation: Invocation<ReportOptions>,
  kind: ReportKind<T>,
  make: Make<T>,
): Promise<ExitCode> {
  const { options, settings, terminal } = invocation;
  let project: Pick<Project, "header" | "files"> | undefined;
  const write = async (attempt: Attempt<T>, manifest: readonly string[]): Promise<void> => {
    const result = { folder: ".", name: project?.header.name ?? "", ...attempt };
    await writeOwnFiles(result, kind, terminal);
    await writeReports([result], kind, { settings, terminal, manifest });
  };
  try {
    const files = { ...kind.files.own, ...kind.files.all };
    await assertReportFiles(files, namedFiles(options));
    const value = await make(async (opened) => {
      await assertReportFiles(files, filesRead(opened));
      project = opened;
    });
    await write({ is: "made", value }, project?.files ?? options.file);
    terminal.out(options.json === true ? `${jsonText(kind.json(value))}\n` : textOf(value, kind, invocation));
    return kind.exit(value);
  } catch (thrown) {
    const error = ownError(thrown, settings.secrets.hide);
    // Not for an error about the report itself.
    if (!error.code.startsWith("report-")) await write({ is: "failed", error }, options.file);
    if (options.json === true) terminal.out(`${jsonText(kind.failedJson(error))}\n`);
    throw error;
  }
}

async function reportSeveral<T>(
  invocation: Invocation<ReportOptions>,
  kind: ReportKind<T>,
  folders: readonly string[],
  make: Make<T>,
): Promise<ExitCode> {
  const { options, settings, terminal } = invocation;
  const { own, all } = kind.files;
  const manifests = folders.flatMap((folder) => namedFiles(options).map((file) => resolve(folder, file)));
  await assertReportFiles(all, manifests);
  await assertReportFiles(own, []);
  const checked: Make<T> = (opened) =>
    make(async (project) => {
      await assertReportFiles(own, filesRead(project));
      await opened(project);
    });
  const results = await inEachFolder(folders, settings, checked, async (result) => {
    if (result.is === "made" || !result.error.code.startsWith("report-"))
      await writeOwnFiles(result, kind, terminal);
  });
  await writeReports(results, kind, { settings, terminal });
  await printSeveral(results, kind, invocation);
  return worseExit(results.map((result) => exitOf(result, kind.exit)));
}

function textOf<T>(value: T, kind: ReportKind<T>, { options, terminal }: Invocation<ReportOptions>): string {
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  return reportText(kind.view(value), { ...page, verbose: options.verbose === true });
}

/** Prints results to standard output as text or JSON, and errors to standard error. The last line has a stable form. */
async function printSeveral<T>(
  results: readonly ManifestResult<T>[],
  kind: ReportKind<T>,
  invocation: Invocation<ReportOptions>,
): Promise<void> {
  const { options, terminal } = invocation;
  const { report: key, differs, line } = kind;
  const counts = countSeveral(results, differs);
  if (options.json === true) {
    terminal.out(`${jsonText(severalJson(key, results, kind, { ...counts }))}\n`);
    return;
  }
  const { bold } = makePalette(terminal.colour);
  for (const result of results) {
    const title = `${bold(`In ${escapeText(result.folder, 300)}`)}\n\n`;
    if (result.is === "made") terminal.out(`${title}${textOf(result.value, kind, invocation)}\n`);
    else {
      terminal.err(title);
      await printError(result.error, terminal);
      terminal.err("\n");
    }
  }
  const said = (result: ManifestResult<T>): string =>
    result.is === "made" ? line(result.value) : `failed: ${result.error.message}`;
  printLines(results, said, terminal);
  terminal.out(`${bold(severalLine(counts, key === "plan" ? "changes" : "drift"))}\n`);
}

export function printLines<T>(
  results: readonly ManifestResult<T>[],
  lineOf: (result: ManifestResult<T>) => string,
  terminal: Pick<Terminal, "out">,
): void {
  const width = Math.max(...results.map(({ folder }) => folder.length));
  for (const result of results) {
    const folder = escapeText(result.folder.padEnd(width), 300);
    terminal.out(`${folder}  ${escapeText(lineOf(result), 300)}\n`);
  }
}
