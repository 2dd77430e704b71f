/** @module Defines the options of drift, and the reports of it. */
import { readFile, stat } from "node:fs/promises";
import { kinds } from "../../kinds/index.ts";
import { systemClock } from "../../model/clock.ts";
import { countUnread, hasDrift } from "../../model/drift.ts";
import { exitCodes } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import { driftAnnotations } from "../../report/annotations.ts";
import { driftJson, erroredDriftJson } from "../../report/drift-json.ts";
import { driftMetrics, failedDriftMetrics } from "../../report/drift-metrics.ts";
import { driftSuite, failedDriftSuite, type JunitSuite, junitText } from "../../report/junit.ts";
import type { ManifestResult } from "../../report/manifest-result.ts";
import type { RedactedDrift } from "../../report/redact.ts";
import { driftFindings } from "../../report/sarif/findings.ts";
import { probeFigures } from "../../report/view/census-view.ts";
import { countDrift, driftView } from "../../report/view/drift-view.ts";
import { pathIn, writeReport } from "../reports/report-files.ts";
import type { ReportOptions } from "../reports/run-report.ts";
import type { ReportKind } from "../reports/write-reports.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface DriftFiles {
  readonly markdown?: string;
  readonly html?: string;
  readonly sarif?: string;
  readonly junit?: string;
  readonly prometheus?: string;
}

export interface DriftOptions extends ReportOptions, DriftFiles {
  readonly target: readonly string[];
  readonly exclude: readonly string[];
  /** False for --no-probe. */
  readonly probe?: boolean;
  readonly unmanaged?: boolean;
  readonly adopt: readonly string[];
}

export function driftReport(
  { markdown, html, sarif, junit, prometheus }: DriftFiles,
  settings: Settings,
  terminal: Terminal,
): ReportKind<RedactedDrift> {
  return {
    report: "drift",
    whole: "graphform drift shows all",
    differs: hasDrift,
    exit(report) {
      if (countUnread(report.census) > 0) return exitCodes.error;
      return hasDrift(report) ? exitCodes.changes : exitCodes.done;
    },
    line: lineOf,
    view: (report) => driftView(report, kinds),
    findings: driftFindings,
    annotations: driftAnnotations,
    figures: ({ census }) => probeFigures(census),
    json: (report) => driftJson(report, kinds),
    failedJson: erroredDriftJson,
    outputs(reports) {
      const counts = reports.map(countDrift);
      const sum = (key: "outside" | "ours"): number => counts.reduce((total, found) => total + found[key], 0);
      return { changed: reports.some(hasDrift), drifted: sum("outside"), unapplied: sum("ours") };
    },
    files: { own: { html, prometheus }, all: { sarif, junit, markdown } },
    async writeOwn(result) {
      if (prometheus === undefined) return;
      // The file is replaced at once: the collector may read it at any moment, as another user.
      await writeReport("prometheus", prometheus, await metricsOf(result, prometheus), terminal, 0o644);
    },
    async writeAll(results, isOne) {
      const suites = results.map((result) => suiteOf(result, isOne, settings));
      if (junit !== undefined) await writeReport("junit", junit, junitText(suites), terminal);
    },
  };
}

function suiteOf(result: ManifestResult<RedactedDrift>, isOne: boolean, settings: Settings): JunitSuite {
  const pathOf = pathIn(settings, result.folder);
  const { is, name } = result;
  const suite =
    is === "made" ? driftSuite(result.value, pathOf) : failedDriftSuite(result.error, name, pathOf);
  // Manifests of several folders may have one name.
  return isOne ? suite : { ...suite, name: `${result.folder} ${suite.name}`.trimEnd() };
}

/** The metrics of a look. Those of one that failed keep a part of the file of the look before. */
async function metricsOf(result: ManifestResult<RedactedDrift>, file: string): Promise<string> {
  if (result.is === "made") return driftMetrics(result.value, systemClock.now());
  // A pipe or a device would be waited for.
  const isFile = (await stat(file).catch(() => undefined))?.isFile() === true;
  return failedDriftMetrics(result.name, isFile ? await readFile(file, "utf8").catch(() => "") : "");
}

function lineOf(report: RedactedDrift): string {
  const { outside, ours } = countDrift(report);
  const undeclared = report.unmanaged?.length ?? 0;
  return [
    outside === 0 ? "no drift" : `${outside} changed outside`,
    ...(report.complete ? [] : ["incomplete"]),
    ...(undeclared === 0 ? [] : [`${undeclared} not declared`]),
    ...(ours === 0 ? [] : [`${ours} not applied yet`]),
  ].join(", ");
}
