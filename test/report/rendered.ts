import type { DriftReport } from "../../src/model/drift.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { RecordedOutput, StateDocument } from "../../src/model/state.ts";
import { type Command, outcomeText as ofOutcomeText } from "../../src/report/apply-text.ts";
import { driftJson as ofDriftJson } from "../../src/report/drift-json.ts";
import { outcomeEvents as ofOutcomeEvents, planEvents as ofPlanEvents } from "../../src/report/events.ts";
import type { PageAssets } from "../../src/report/html/page.ts";
import { reportHtml } from "../../src/report/html/report-html.ts";
import { driftSuite as ofDriftSuite } from "../../src/report/junit.ts";
import { reportMarkdown } from "../../src/report/markdown/report-markdown.ts";
import { planJson as ofPlanJson } from "../../src/report/plan-json.ts";
import {
  redactDrift,
  redactOutcome,
  redactOutputs,
  redactPlan,
  redactState,
} from "../../src/report/redact.ts";
import {
  driftFindings as ofDriftFindings,
  planFindings as ofPlanFindings,
} from "../../src/report/sarif/findings.ts";
import type { ReportFinding } from "../../src/report/sarif/sarif-log.ts";
import {
  outputsJson as ofOutputsJson,
  outputsText as ofOutputsText,
  stateJson as ofStateJson,
  stateText as ofStateText,
} from "../../src/report/state-text.ts";
import { type ReportPage, reportText } from "../../src/report/text/report-text.ts";
import type { Page, Palette } from "../../src/report/typeset.ts";
import { comparePlans } from "../../src/report/view/comparison.ts";
import { driftView } from "../../src/report/view/drift-view.ts";
import { planView as ofPlanView, type PlanViewOptions } from "../../src/report/view/plan-view.ts";
import type { ReportView } from "../../src/report/view/report-view.ts";
import type { KindNames } from "../../src/report/words.ts";
import { words } from "./words.ts";

/** Options of a report in Markdown. */
export interface MarkdownOptions extends PlanViewOptions {
  readonly bytes?: number;
}

/** Every report as a command makes it: of what may be shown. */

export function planText(plan: Plan, names: KindNames, page: Page, options?: PlanViewOptions): string {
  return reportText(planView(plan, names, options), page);
}

export function planJson(plan: Plan, names: KindNames): JsonObject {
  return ofPlanJson(redactPlan(plan, names), names);
}

export function planView(plan: Plan, names: KindNames, options?: PlanViewOptions): ReportView {
  return ofPlanView(redactPlan(plan, names), options);
}

export function planEvents(plan: Plan, names: KindNames): readonly JsonObject[] {
  return ofPlanEvents(redactPlan(plan, names), names);
}

export function planFindings(plan: Plan, names: KindNames): readonly ReportFinding[] {
  return ofPlanFindings(redactPlan(plan, names));
}

export function planMarkdown(plan: Plan, names: KindNames, options?: MarkdownOptions): string {
  return reportMarkdown(planView(plan, names, options), options?.bytes);
}

/** Options of a page; an earlier plan is compared as a command does it. */
export type PageOptions = PlanViewOptions & {
  readonly assets: PageAssets;
  readonly earlier?: { readonly plan: Plan; readonly file: string } | undefined;
};

export function planHtml(plan: Plan, names: KindNames, { earlier, assets, ...options }: PageOptions): string {
  const compared = earlier && { view: comparePlans(earlier.plan, plan, names), file: earlier.file };
  const data = planJson(plan, names);
  const shown = redactPlan(plan, names);
  return reportHtml(planView(plan, names, options), { assets, data, plan: shown, earlier: compared });
}

export function driftText(report: DriftReport, names: KindNames, page: ReportPage): string {
  return reportText(driftView(redactDrift(report, names), names), page);
}

export function driftJson(report: DriftReport, names: KindNames): JsonObject {
  return ofDriftJson(redactDrift(report, names), names);
}

export function driftHtml(report: DriftReport, names: KindNames, assets: PageAssets): string {
  return reportHtml(driftView(redactDrift(report, names), names), {
    assets,
    data: driftJson(report, names),
  });
}

export function driftMarkdown(report: DriftReport, names: KindNames, bytes?: number): string {
  return reportMarkdown(driftView(redactDrift(report, names), names), bytes);
}

export function driftFindings(report: DriftReport, names: KindNames): readonly ReportFinding[] {
  return ofDriftFindings(redactDrift(report, names));
}

export function driftSuite(
  report: DriftReport,
  names: KindNames,
  pathOf: (file: string) => string,
): ReturnType<typeof ofDriftSuite> {
  return ofDriftSuite(redactDrift(report, names), pathOf);
}

export function outcomeText(outcome: Outcome, page: Page, command?: Command): string {
  return ofOutcomeText(redactOutcome(outcome, words), page, command);
}

export function outcomeEvents(outcome: Outcome, command?: Command): readonly JsonObject[] {
  return ofOutcomeEvents(redactOutcome(outcome, words), command);
}

export function stateText(state: StateDocument, names: KindNames, page: Page): string {
  return ofStateText(redactState(state, names), page);
}

export function stateJson(state: StateDocument, names: KindNames): JsonObject {
  return ofStateJson(redactState(state, names), names);
}

type Outputs = { readonly [name: string]: RecordedOutput };

export function outputsText(outputs: Outputs, palette: Palette): string {
  return ofOutputsText(redactOutputs(outputs), palette);
}

export function outputsJson(outputs: Outputs): JsonObject {
  return ofOutputsJson(redactOutputs(outputs));
}
