/** @module Defines the options of drift, and writes the reports that they and the CI service ask for. */
import { readFile, stat } from "node:fs/promises";
import { systemClock } from "../../model/clock.ts";
import { hasDrift } from "../../model/drift.ts";
import type { GraphformError } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import { probeFigures } from "../../report/census-json.ts";
import { driftAnnotations } from "../../report/github/annotations.ts";
import { driftSuite, failedDriftSuite } from "../../report/junit/drift-suite.ts";
import { junitText } from "../../report/junit/junit.ts";
import { failureMarkdown } from "../../report/markdown/failure-markdown.ts";
import { reportMarkdown } from "../../report/markdown/report-markdown.ts";
import { driftMetrics, failedDriftMetrics } from "../../report/prometheus/drift-metrics.ts";
import { driftFindings } from "../../report/sarif/drift-findings.ts";
import type { ShownDrift } from "../../report/shown.ts";
import { countDrift, driftView } from "../../report/view/drift-view.ts";
import type { KindNames } from "../../report/words.ts";
import type { ManifestOptions } from "../options.ts";
import { writeFailureReports, writeSarif } from "../reports/problem-reports.ts";
import { absolute, appendSummary, printAnnotations, writeStepOutputs } from "../reports/step-outputs.ts";
import { writeDriftHtml, writeFailureHtml } from "../reports/write-html.ts";
import { repositoryPath, writeReport } from "../reports/write-report.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Context of the reports of drift. */
export interface DriftReportContext {
  /** Name of the manifest, empty where it could not be read. */
  readonly name: string;
  /** Manifest files. */
  readonly manifest: readonly string[];
  readonly settings: Settings;
  readonly terminal: Terminal;
}

/** Writes the reports of a look, and prints annotations on GitHub. Throws `report-unwritable`. */
export async function writeDriftReports(
  report: ShownDrift,
  names: KindNames,
  { sarif, junit, markdown, html, prometheus }: DriftReportOptions,
  { manifest, settings, terminal }: DriftReportContext,
): Promise<void> {
  const pathOf = repositoryPath(settings);
  const view = driftView(report, names);
  if (sarif !== undefined)
    await writeSarif(driftFindings(report), {
      ...{ file: sarif, manifest, settings, terminal },
      figures: probeFigures(report.census),
    });
  if (junit !== undefined)
    await writeReport("junit", junit, junitText([driftSuite(report, pathOf)]), terminal);
  if (markdown !== undefined) await writeReport("markdown", markdown, reportMarkdown(view), terminal);
  await writeDriftFiles(report, names, { html, prometheus }, terminal);
  await appendSummary((bytes) => reportMarkdown(view, bytes), settings, terminal);
  writeDriftOutputs([report], { markdown, sarif }, settings, terminal);
  await printAnnotations(driftAnnotations(report, pathOf), "graphform drift shows all", settings, terminal);
}

/** Writes that nobody could look, so that the report of an earlier look is not taken for this one. */
export async function writeNoDriftReports(
  error: GraphformError,
  { sarif, junit, markdown, html, prometheus }: DriftReportOptions,
  { name, ...context }: DriftReportContext,
): Promise<void> {
  const { settings, terminal } = context;
  const suite = failedDriftSuite(error, name, repositoryPath(settings));
  if (junit !== undefined) await writeReport("junit", junit, junitText([suite]), terminal);
  const text = failureMarkdown(error, name, "drift");
  if (markdown !== undefined) await writeReport("markdown", markdown, text, terminal);
  await writeNoDriftFiles(error, name, { html, prometheus }, terminal);
  await appendSummary(() => text, settings, terminal);
  await writeFailureReports(error, { sarif, ...context });
}

/** Files that hold one look alone, also where a command looks at several manifests. */
type OwnFiles = { readonly [file in "html" | "prometheus"]: string | undefined };

/** Writes the page and the metrics of a look. */
export async function writeDriftFiles(
  report: ShownDrift,
  names: KindNames,
  { html, prometheus }: OwnFiles,
  terminal: Pick<Terminal, "err" | "out">,
): Promise<void> {
  if (html !== undefined) await writeDriftHtml(html, report, names, terminal);
  if (prometheus !== undefined)
    await writeMetrics(prometheus, driftMetrics(report, systemClock.now()), terminal);
}

/** Writes to the page and to the metrics that nobody could look. */
export async function writeNoDriftFiles(
  error: GraphformError,
  name: string,
  { html, prometheus }: OwnFiles,
  terminal: Pick<Terminal, "err" | "out">,
): Promise<void> {
  if (html !== undefined) await writeFailureHtml(html, error, terminal, "drift");
  if (prometheus === undefined) return;
  // A pipe or a device would be waited for.
  const isFile = await stat(prometheus).then(
    (found) => found.isFile(),
    () => false,
  );
  const earlier = isFile ? await readFile(prometheus, "utf8").catch(() => "") : "";
  await writeMetrics(prometheus, failedDriftMetrics(name, earlier), terminal);
}

/** Writes what was found as outputs of a step of GitHub Actions: that of one look, or the sums of several. */
export function writeDriftOutputs(
  reports: readonly ShownDrift[],
  { markdown, sarif }: { readonly [file in "markdown" | "sarif"]: string | undefined },
  settings: Settings,
  terminal: Terminal,
): void {
  const counts = reports.map(countDrift);
  const sum = (key: "outside" | "ours"): number => counts.reduce((total, found) => total + found[key], 0);
  const files = { summary_md_path: absolute(markdown), sarif_path: absolute(sarif) };
  const outputs = { changed: reports.some(hasDrift), drifted: sum("outside"), unapplied: sum("ours") };
  writeStepOutputs({ ...outputs, ...files }, settings, terminal);
}

/** Replaces the file at once: the collector may read it at any moment, as another user. */
function writeMetrics(file: string, text: string, terminal: Pick<Terminal, "err" | "out">): Promise<void> {
  return writeReport("prometheus", file, text, terminal, 0o644);
}

/** Files of reports that `drift` writes. */
interface DriftReportOptions {
  readonly markdown?: string;
  readonly html?: string;
  readonly sarif?: string;
  readonly junit?: string;
  readonly prometheus?: string;
}

/** Options of `drift`. */
export interface DriftOptions extends ManifestOptions, DriftReportOptions {
  readonly target: readonly string[];
  readonly exclude: readonly string[];
  readonly json?: boolean;
  /** False for --no-probe. */
  readonly probe?: boolean;
  /** Lists objects that nobody declares; they count as drift. */
  readonly unmanaged?: boolean;
  /** Lists every difference, also those that do not matter. */
  readonly verbose?: boolean;
  /** Addresses, or fields of them, whose live values go into the manifest. */
  readonly adopt: readonly string[];
}
