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
import { redactDrift, redactPlan } from "../report/redact.ts";
import { driftFindings, planFindings } from "../report/sarif/findings.ts";
import { problemFindings } from "../report/sarif/problem-findings.ts";
import { type ReportFinding, sarifLog } from "../report/sarif/sarif-log.ts";
import { reportText } from "../report/text/report-text.ts";
import { jsonText, makePalette, type Page } from "../report/typeset.ts";
import { driftView } from "../report/view/drift-view.ts";
import { planView } from "../report/view/plan-view.ts";
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
  switch (format) {
    case "text":
      return reportText(planView(shown), pageOf(options));
    case "json":
      return documentText(planJson(shown, kinds));
    case "markdown":
      return reportMarkdown(planView(shown));
    case "sarif":
      return sarifText(planFindings(shown));
    case "html": {
      // Loaded here: what draws the picture of a page is large.
      const { reportHtml } = await import("../report/html/report-html.ts");
      const page = { data: planJson(shown, kinds), plan: shown };
      return reportHtml(planView(shown), { ...page, assets: pageAssets() });
    }
  }
}

/** Formats a drift report. */
export async function formatDrift(
  report: DriftReport,
  format: DriftFormat,
  options: FormatOptions = {},
): Promise<string> {
  const shown = redactDrift(report, kinds);
  switch (format) {
    case "text":
      return reportText(driftView(shown, kinds), pageOf(options));
    case "json":
      return documentText(driftJson(shown, kinds));
    case "markdown":
      return reportMarkdown(driftView(shown, kinds));
    case "sarif":
      return sarifText(driftFindings(shown));
    case "junit":
      return junitText([driftSuite(shown, (file) => file)]);
    case "prometheus":
      return driftMetrics(shown, systemClock.now());
    case "html": {
      const { reportHtml } = await import("../report/html/report-html.ts");
      const data = driftJson(shown, kinds);
      return reportHtml(driftView(shown, kinds), { data, assets: pageAssets() });
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
