/** @module Formats plans, drift reports and problems for people and for other tools; no text holds a secret. */
import { kinds } from "../kinds/index.ts";
import { systemClock } from "../model/clock.ts";
import type { DriftReport } from "../model/drift.ts";
import type { Problem } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { Plan } from "../model/plan.ts";
import { packageVersion, pageAssets, projectUrl } from "../project/package-files.ts";
import { driftJson } from "../report/drift-json.ts";
import { driftMetrics } from "../report/drift-metrics.ts";
import { driftSuite, junitText } from "../report/junit.ts";
import { reportMarkdown } from "../report/markdown/report-markdown.ts";
import { planJson } from "../report/plan-json.ts";
import { problemsJson, problemsText } from "../report/problems.ts";
import { type RedactedPlan, redactDrift, redactPlan } from "../report/redact.ts";
import { driftFindings, planFindings } from "../report/sarif/findings.ts";
import { problemFindings } from "../report/sarif/problem-findings.ts";
import { type ReportFinding, sarifLog } from "../report/sarif/sarif-log.ts";
import { reportText } from "../report/text/report-text.ts";
import { jsonText, makePalette, type Page } from "../report/typeset.ts";
import { driftView } from "../report/view/drift-view.ts";
import { planView } from "../report/view/plan-view.ts";
import type { ReportView } from "../report/view/report-view.ts";
import { digestOf } from "../state/document.ts";

/** Layout of the formatted text. */
export interface FormatOptions {
  /** Columns of a text. Default: 100. */
  readonly width?: number;
  /** True for a text with the colours of a terminal. */
  readonly colour?: boolean;
}

/** Formats of a plan: those of `graphform plan`. */
export type PlanFormat = "text" | "json" | "markdown" | "html" | "sarif";
/** Formats of a drift report: those of `graphform drift`. */
export type DriftFormat = PlanFormat | "junit" | "prometheus";
/** Formats of problems: those of `graphform validate`. */
export type ProblemFormat = "text" | "json" | "sarif";

/** Formats a plan. */
export async function formatPlan(
  plan: Plan,
  format: PlanFormat,
  options: FormatOptions = {},
): Promise<string> {
  const shown = redactPlan(plan, kinds);
  const [data, findings] = [() => planJson(shown, kinds), () => planFindings(shown)];
  return formatted({ view: planView(shown), data, findings, plan: shown }, format, options);
}

/** Formats a drift report. */
export async function formatDrift(
  report: DriftReport,
  format: DriftFormat,
  options: FormatOptions = {},
): Promise<string> {
  const shown = redactDrift(report, kinds);
  if (format === "junit") return junitText([driftSuite(shown, (file) => file)]);
  if (format === "prometheus") return driftMetrics(shown, systemClock.now());
  const [data, findings] = [() => driftJson(shown, kinds), () => driftFindings(shown)];
  return formatted({ view: driftView(shown, kinds), data, findings }, format, options);
}

/** A report as it is shown, and as data. */
interface Report {
  readonly view: ReportView;
  readonly data: () => Json;
  readonly findings: () => readonly ReportFinding[];
  readonly plan?: RedactedPlan;
}

async function formatted(report: Report, format: PlanFormat, options: FormatOptions): Promise<string> {
  const { view, data, findings, ...more } = report;
  switch (format) {
    case "text":
      return reportText(view, pageOf(options));
    case "json":
      return documentText(data());
    case "markdown":
      return reportMarkdown(view);
    case "sarif":
      return sarifText(findings());
    case "html": {
      // Loaded here: what draws the picture of a page is large.
      const { reportHtml } = await import("../report/html/report-html.ts");
      return reportHtml(view, { data: data(), ...more, assets: pageAssets() });
    }
  }
}

/** Formats the problems of a manifest; empty as text if there are none. */
export function formatProblems(
  problems: readonly Problem[],
  format: ProblemFormat,
  options: FormatOptions = {},
): string {
  if (format === "text") return problemsText(problems, pageOf(options));
  return format === "json" ? documentText(problemsJson(problems)) : sarifText(problemFindings(problems));
}

function pageOf({ width = 100, colour = false }: FormatOptions): Page {
  return { palette: makePalette(colour), width };
}

function documentText(document: Json): string {
  return `${jsonText(document)}\n`;
}

function sarifText(findings: readonly ReportFinding[]): string {
  const { log } = sarifLog(findings, {
    version: packageVersion(),
    projectUrl: projectUrl(),
    fallbackFile: "graphform.yaml",
    uriOf: encodeURI,
    digest: digestOf,
  });
  return documentText(log);
}
