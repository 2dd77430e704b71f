/** @module Writes the reports of one manifest or of several: files, the summary of the step, its outputs and annotations. */
import { resolve } from "node:path";
import { GraphformError, isManifestError, type SourceRange } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Plan } from "../../model/plan.ts";
import { packageVersion, pageAssets, projectUrl } from "../../project/package-files.ts";
import { type Annotation, annotationLines, problemAnnotations } from "../../report/annotations.ts";
import type { Earlier, PageOptions } from "../../report/html/report-html.ts";
import {
  type Documents,
  failuresOf,
  type ManifestResult,
  madeOf,
  type SeveralReport,
  severalMarkdown,
} from "../../report/manifest-result.ts";
import { failureMarkdown, reportMarkdown } from "../../report/markdown/report-markdown.ts";
import { problemFindings } from "../../report/sarif/problem-findings.ts";
import { type ReportFinding, sarifLog } from "../../report/sarif/sarif-log.ts";
import { jsonText } from "../../report/typeset.ts";
import { amount, type KindNames } from "../../report/words.ts";
import { digestOf } from "../../state/document.ts";
import { readPlanFile } from "../../state/plan-file.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation } from "../with-run.ts";
import {
  appendSummary,
  pathIn,
  type ReportFiles,
  repositoryUri,
  type StepOutputs,
  writeReport,
  writeStepOutputs,
} from "./report-files.ts";

/** Findings and annotations of one result, worst first. */
export interface Findings<T> {
  readonly findings: (value: T) => readonly ReportFinding[];
  readonly annotations: (value: T, pathOf: (file: string) => string) => readonly Annotation[];
  readonly figures?: (value: T) => { readonly [name: string]: number };
  /** The place that has all annotations. */
  readonly whole: string;
}

/** Everything that the reports of plans, or those of drift, are made from. `T` is a result that may be shown. */
export interface ReportKind<T> extends SeveralReport<T>, Findings<T>, Documents<T> {
  /** Parts of the page besides its view. */
  readonly page?: (value: T) => Pick<PageOptions, "plan" | "earlier">;
  /** The outputs of a step that stand for these results. `isOne` is false if they are those of several manifests. */
  readonly outputs: (values: readonly T[], isOne: boolean) => StepOutputs | Promise<StepOutputs>;
  /** Options with files that one manifest has for itself, and with those that hold all. */
  readonly files: { readonly own: ReportFiles; readonly all: ReportFiles };
  /** Writes the own files but the page. */
  readonly writeOwn?: (result: ManifestResult<T>) => Promise<void>;
  /** Writes the files of all but those in Markdown and SARIF. */
  readonly writeAll: (results: readonly ManifestResult<T>[], isOne: boolean) => Promise<void>;
}

interface ReportContext extends Pick<Invocation, "settings" | "terminal"> {
  /** Files of the manifest, if there is one; absent if the results are those of several. */
  readonly manifest?: readonly string[];
}

/** Writes the files, the summary, the outputs and the annotations of these results. Throws `report-unwritable`. */
export async function writeReports<T>(
  results: readonly ManifestResult<T>[],
  kind: ReportKind<T>,
  context: ReportContext,
): Promise<void> {
  const { settings, terminal } = context;
  const { markdown, sarif } = kind.files.all;
  const text = (bytes?: number): string => markdownOf(results, kind, context, bytes);
  await kind.writeAll(results, isOne(context));
  if (markdown !== undefined) await writeReport("markdown", markdown, text(), terminal);
  await appendSummary(text, settings, terminal);
  await writeFindings(results, kind, sarif, context);
  const values = madeOf(results).map(({ value }) => value);
  if (settings.get("GITHUB_OUTPUT") === undefined || (values.length === 0 && isOne(context))) return;
  // A later step may run in another folder.
  const [summary_md_path, sarif_path] = [markdown, sarif].map((file) => file && resolve(file));
  const outputs = await kind.outputs(values, isOne(context));
  writeStepOutputs({ ...outputs, summary_md_path, sarif_path }, settings, terminal);
}

function isOne({ manifest }: ReportContext): boolean {
  return manifest !== undefined;
}

function markdownOf<T>(
  results: readonly ManifestResult<T>[],
  kind: ReportKind<T>,
  context: ReportContext,
  bytes?: number,
): string {
  const [only] = results;
  if (only === undefined || !isOne(context)) return severalMarkdown(results, kind, bytes);
  return only.is === "made"
    ? reportMarkdown(kind.view(only.value), bytes)
    : failureMarkdown(only.error, only.name, kind.report);
}

/** Writes the files that a manifest has for itself: after a failure they say why there is no report. Throws `report-unwritable`. */
export async function writeOwnFiles<T>(
  result: ManifestResult<T>,
  kind: ReportKind<T>,
  terminal: Pick<Terminal, "err" | "out">,
): Promise<void> {
  const { html } = kind.files.own;
  if (html !== undefined) await writeReport("html", html, await pageOf(result, kind), terminal);
  await kind.writeOwn?.(result);
}

/** The page. The code that draws and escapes it is loaded only here. */
async function pageOf<T>(result: ManifestResult<T>, kind: ReportKind<T>): Promise<string> {
  const { failureHtml, reportHtml } = await import("../../report/html/report-html.ts");
  const assets = pageAssets();
  if (result.is === "failed") return failureHtml(result.error, assets, kind.report);
  const { value } = result;
  return reportHtml(kind.view(value), { assets, data: kind.json(value), ...kind.page?.(value) });
}

/** Writes findings to a file in the format SARIF, and prints annotations on GitHub. */
export async function writeFindings<T>(
  results: readonly ManifestResult<T>[],
  kind: Findings<T>,
  sarif: string | undefined,
  context: ReportContext,
): Promise<void> {
  const { settings, terminal } = context;
  if (sarif !== undefined) await writeSarif(sarif, results, kind, context);
  const failures = failuresOf(results);
  const annotations = [
    ...failures.flatMap(({ folder, error }) =>
      isManifestError(error) ? problemAnnotations(error.problems, pathIn(settings, folder)) : [],
    ),
    ...madeOf(results).flatMap(({ folder, value }) => kind.annotations(value, pathIn(settings, folder))),
  ];
  const ofOne = failures.length > 0 ? "graphform validate shows all problems" : kind.whole;
  const whole = isOne(context) ? ofOne : "the reports list all";
  // Standard output has the result of the command, and GitHub reads standard error too.
  if (settings.get("GITHUB_ACTIONS") === "true")
    for (const line of annotationLines(annotations, whole)) terminal.err(`${line}\n`);
}

async function writeSarif<T>(
  file: string,
  results: readonly ManifestResult<T>[],
  kind: Findings<T>,
  context: ReportContext,
): Promise<void> {
  const { settings, terminal, manifest } = context;
  const foundIn = isOne(context) ? () => (finding: ReportFinding) => finding : inFolder;
  const all = [
    ...failuresOf(results).flatMap(({ folder, error }) =>
      isManifestError(error) ? problemFindings(error.problems).map(foundIn(folder)) : [],
    ),
    ...madeOf(results).flatMap(({ folder, value }) => kind.findings(value).map(foundIn(folder))),
  ];
  const failed = failuresOf(results)
    .filter(({ error }) => !isManifestError(error))
    .map(({ folder, error }) => `${isOne(context) ? "" : `${folder}: `}${error.message}`);
  const [first] = results;
  const { log, leftOut } = sarifLog(all, {
    version: packageVersion(),
    projectUrl: projectUrl(),
    fallbackFile: manifest?.[0] ?? resolve(first?.folder ?? ".", "graphform.yaml"),
    uriOf: repositoryUri(settings),
    digest: digestOf,
    ...defined({ failure: failed.length === 0 ? undefined : failed.join("; ") }),
    ...(isOne(context) && first?.is === "made" ? defined({ figures: kind.figures?.(first.value) }) : {}),
  });
  await writeReport("sarif", file, `${jsonText(log, 2)}\n`, terminal);
  if (leftOut > 0) terminal.err(`${file}: ${amount(leftOut, "result")} left out, the least severe ones\n`);
}

/** Gives a finding the place and the identity that it has among those of other folders. */
function inFolder(folder: string): (finding: ReportFinding) => ReportFinding {
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

/** Reads the plan that --compare names, before any work is done, and returns the comparison with it. Throws `report-option` without a page. */
export async function comparison({
  html,
  compare: file,
}: {
  readonly html?: string;
  readonly compare?: string;
}): Promise<(plan: Plan, names: KindNames) => { readonly earlier?: Earlier }> {
  if (file === undefined) return () => ({});
  if (html === undefined)
    throw new GraphformError("report-option", "--compare is a part of the page that --html writes", {
      hint: `add --html FILE, or leave --compare ${file} out`,
    });
  const earlier = (await readPlanFile(file)).plan;
  const { comparePlans } = await import("../../report/view/comparison.ts");
  return (plan, names) => ({ earlier: { view: comparePlans(earlier, plan, names), file } });
}
