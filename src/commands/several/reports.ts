/** @module Writes the reports that hold the results of several manifests. */
import { resolve } from "node:path";
import { type GraphformError, isManifestError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { SourceRange } from "../../model/problem.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import { type Annotation, problemAnnotations } from "../../report/github/annotations.ts";
import { jsonText } from "../../report/json-text.ts";
import { makePalette } from "../../report/palette.ts";
import { problemFindings } from "../../report/sarif/problem-findings.ts";
import type { ReportFinding } from "../../report/sarif/sarif-log.ts";
import {
  countSeveral,
  exitOf,
  type ManifestResult,
  madeOf,
  severalJson,
  severalLine,
} from "../../report/several/manifest-result.ts";
import { type SeveralReport, severalMarkdown } from "../../report/several/several-markdown.ts";
import { writeSarif } from "../reports/problem-reports.ts";
import { appendSummary, printAnnotations } from "../reports/step-outputs.ts";
import { pathIn, writeReport } from "../reports/write-report.ts";
import { printError } from "../terminal/print-error.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Reports of one result, from which those of all are made. */
export interface SeveralParts<T> extends SeveralReport<T>, FoundParts<T> {
  /** The whole result; ends with a line break. */
  readonly text: (value: T) => string;
  readonly json: (value: T) => JsonObject;
  readonly failedJson: (error: GraphformError) => JsonObject;
}

/** Findings and annotations of one result, worst first. */
interface FoundParts<T> {
  readonly findings: (value: T) => readonly ReportFinding[];
  readonly annotations: (value: T, pathOf: (file: string) => string) => readonly Annotation[];
}

/** Context of the reports. */
export interface SeveralContext {
  readonly settings: Settings;
  readonly terminal: Terminal;
}

/** Writes one Markdown file and one SARIF file, the summary of the step and the annotations. Called in the folder of the command. */
export async function writeSeveralReports<T>(
  results: readonly ManifestResult<T>[],
  parts: SeveralParts<T>,
  { markdown, sarif }: { readonly markdown?: string | undefined; readonly sarif?: string | undefined },
  { settings, terminal }: SeveralContext,
): Promise<void> {
  if (markdown !== undefined)
    await writeReport("markdown", markdown, severalMarkdown(results, parts), terminal);
  await appendSummary((bytes) => severalMarkdown(results, parts, bytes), settings, terminal);
  await writeFindings(results, parts, sarif, { settings, terminal });
}

/** Writes one SARIF file where it is named, and the annotations. */
export async function writeFindings<T>(
  results: readonly ManifestResult<T>[],
  parts: FoundParts<T>,
  sarif: string | undefined,
  { settings, terminal }: SeveralContext,
): Promise<void> {
  if (sarif !== undefined) await writeAllFindings(results, parts, sarif, { settings, terminal });
  const annotations = [
    ...failures(results).flatMap(({ folder, error }) =>
      isManifestError(error) ? problemAnnotations(error.problems, pathIn(settings, folder)) : [],
    ),
    ...madeOf(results).flatMap(({ folder, value }) => parts.annotations(value, pathIn(settings, folder))),
  ];
  await printAnnotations(annotations, "the reports list all", settings, terminal);
}

async function writeAllFindings<T>(
  results: readonly ManifestResult<T>[],
  { findings }: FoundParts<T>,
  file: string,
  { settings, terminal }: SeveralContext,
): Promise<void> {
  const all = [
    ...failures(results).flatMap(({ folder, error }) =>
      isManifestError(error) ? problemFindings(error.problems).map(foundIn(folder)) : [],
    ),
    ...madeOf(results).flatMap(({ folder, value }) => findings(value).map(foundIn(folder))),
  ];
  const levels: readonly ReportFinding["level"][] = ["error", "warning", "note"];
  const worstFirst = levels.flatMap((level) => all.filter((finding) => finding.level === level));
  const failed = failures(results)
    .filter(({ error }) => !isManifestError(error))
    .map(({ folder, error }) => `${folder}: ${error.message}`);
  await writeSarif(worstFirst, {
    ...{ file, settings, terminal },
    manifest: results.slice(0, 1).map(({ folder }) => resolve(folder, "graphform.yaml")),
    ...(failed.length === 0 ? {} : { failure: failed.join("; ") }),
  });
}

/** Gives a finding the place and the identity that it has among those of other folders. */
function foundIn(folder: string): (finding: ReportFinding) => ReportFinding {
  const start = { line: 1, column: 1 };
  const whole: SourceRange = { file: "graphform.yaml", start, end: start };
  return (finding) => {
    const { where = whole, fingerprint } = finding;
    return {
      ...finding,
      message: `${folder}: ${finding.message}`,
      where: { ...where, file: resolve(folder, where.file) },
      fingerprint: { ...fingerprint, parts: [folder, ...fingerprint.parts] },
    };
  };
}

function failures<T>(
  results: readonly ManifestResult<T>[],
): readonly Extract<ManifestResult<T>, { readonly is: "failed" }>[] {
  return results.flatMap((result) => (result.is === "failed" ? [result] : []));
}

/** Prints results to standard output as text or as one JSON document, and errors to standard error. The last line has a stable form. */
export async function printSeveral<T>(
  results: readonly ManifestResult<T>[],
  { report, differs, line, text, json, failedJson }: SeveralParts<T>,
  asJson: boolean,
  terminal: Terminal,
): Promise<void> {
  if (asJson) {
    const exit = (result: ManifestResult<T>): number => exitOf(result, differs);
    const summary = { ...countSeveral(results, differs) };
    const documents = { key: report, exit, made: json, failed: failedJson, summary };
    terminal.out(`${jsonText(severalJson(results, documents))}\n`);
    return;
  }
  const { bold } = makePalette(terminal.colour);
  for (const result of results) {
    const title = `${bold(`In ${escapeText(result.folder, 300)}`)}\n\n`;
    if (result.is === "made") terminal.out(`${title}${text(result.value)}\n`);
    else {
      terminal.err(title);
      await printError(result.error, terminal);
      terminal.err("\n");
    }
  }
  const width = Math.max(...results.map(({ folder }) => folder.length));
  for (const result of results) {
    const said = result.is === "made" ? line(result.value) : `failed: ${result.error.message}`;
    terminal.out(`${escapeText(result.folder.padEnd(width), 300)}  ${escapeText(said, 300)}\n`);
  }
  const what = report === "plan" ? "changes" : "drift";
  terminal.out(`${bold(severalLine(countSeveral(results, differs), what))}\n`);
}
