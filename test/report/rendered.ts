import type { DriftReport } from "../../src/model/drift.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { RecordedOutput, StateDocument } from "../../src/model/state.ts";
import { type Command, outcomeEvents as ofOutcomeEvents } from "../../src/report/apply-events.ts";
import { driftJson as ofDriftJson } from "../../src/report/drift/drift-json.ts";
import { type DriftPage, driftText as ofDriftText } from "../../src/report/drift/drift-text.ts";
import type { Stamp } from "../../src/report/events.ts";
import { driftHtml as ofDriftHtml } from "../../src/report/html/drift-html.ts";
import type { Sha256 } from "../../src/report/html/page.ts";
import { planHtml as ofPlanHtml, type PlanPageOptions } from "../../src/report/html/plan-html.ts";
import { driftSuite as ofDriftSuite } from "../../src/report/junit/drift-suite.ts";
import { driftMarkdown as ofDriftMarkdown } from "../../src/report/markdown/drift-markdown.ts";
import {
  type MarkdownOptions,
  planMarkdown as ofPlanMarkdown,
} from "../../src/report/markdown/plan-markdown.ts";
import { outcomeText as ofOutcomeText } from "../../src/report/outcome-text.ts";
import { outputsJson as ofOutputsJson, outputsText as ofOutputsText } from "../../src/report/outputs-json.ts";
import type { Page, Palette } from "../../src/report/palette.ts";
import { planEvents as ofPlanEvents } from "../../src/report/plan-events.ts";
import { planJson as ofPlanJson } from "../../src/report/plan-json.ts";
import { planText as ofPlanText } from "../../src/report/plan-text.ts";
import { driftFindings as ofDriftFindings } from "../../src/report/sarif/drift-findings.ts";
import { planFindings as ofPlanFindings } from "../../src/report/sarif/plan-findings.ts";
import type { ReportFinding } from "../../src/report/sarif/sarif-log.ts";
import { shownDrift, shownOutcome, shownOutputs, shownPlan, shownState } from "../../src/report/shown.ts";
import { stateJson as ofStateJson } from "../../src/report/state-json.ts";
import { stateText as ofStateText } from "../../src/report/state-text.ts";
import { comparePlans } from "../../src/report/view/comparison.ts";
import type { PlanView, PlanViewOptions } from "../../src/report/view/plan-view.ts";
import { planView as ofPlanView } from "../../src/report/view/plan-view.ts";
import type { KindNames } from "../../src/report/words.ts";
import { words } from "./words.ts";

/** Every report as a command makes it: of what may be shown. */

export function planText(plan: Plan, names: KindNames, page: Page, options?: PlanViewOptions): string {
  return ofPlanText(shownPlan(plan, names), page, options);
}

export function planJson(plan: Plan, names: KindNames): JsonObject {
  return ofPlanJson(shownPlan(plan, names), names);
}

export function planView(plan: Plan, names: KindNames, options?: PlanViewOptions): PlanView {
  return ofPlanView(shownPlan(plan, names), options);
}

export function planEvents(plan: Plan, names: KindNames, stamp: Stamp): readonly JsonObject[] {
  return ofPlanEvents(shownPlan(plan, names), names, stamp);
}

export function planFindings(plan: Plan, names: KindNames): readonly ReportFinding[] {
  return ofPlanFindings(shownPlan(plan, names));
}

export function planMarkdown(plan: Plan, names: KindNames, options?: MarkdownOptions): string {
  return ofPlanMarkdown(shownPlan(plan, names), options);
}

/** Options of a page; an earlier plan is compared as a command does it. */
export type PageOptions = Omit<PlanPageOptions, "earlier"> & {
  readonly earlier?: { readonly plan: Plan; readonly file: string } | undefined;
};

export function planHtml(plan: Plan, names: KindNames, { earlier, ...options }: PageOptions): string {
  const compared = earlier && { view: comparePlans(earlier.plan, plan, names), file: earlier.file };
  return ofPlanHtml(shownPlan(plan, names), names, { ...options, earlier: compared });
}

export function driftText(report: DriftReport, names: KindNames, page: DriftPage): string {
  return ofDriftText(shownDrift(report, names), names, page);
}

export function driftJson(report: DriftReport, names: KindNames): JsonObject {
  return ofDriftJson(shownDrift(report, names), names);
}

export function driftHtml(report: DriftReport, names: KindNames, sha256: Sha256): string {
  return ofDriftHtml(shownDrift(report, names), names, sha256);
}

export function driftMarkdown(report: DriftReport, names: KindNames, bytes?: number): string {
  return ofDriftMarkdown(shownDrift(report, names), names, bytes);
}

export function driftFindings(report: DriftReport, names: KindNames): readonly ReportFinding[] {
  return ofDriftFindings(shownDrift(report, names));
}

export function driftSuite(
  report: DriftReport,
  names: KindNames,
  pathOf: (file: string) => string,
): ReturnType<typeof ofDriftSuite> {
  return ofDriftSuite(shownDrift(report, names), pathOf);
}

export function outcomeText(outcome: Outcome, page: Page, command?: Command): string {
  return ofOutcomeText(shownOutcome(outcome, words), page, command);
}

export function outcomeEvents(outcome: Outcome, stamp: Stamp, command?: Command): readonly JsonObject[] {
  return ofOutcomeEvents(shownOutcome(outcome, words), stamp, command);
}

export function stateText(state: StateDocument, names: KindNames, page: Page): string {
  return ofStateText(shownState(state, names), page);
}

export function stateJson(state: StateDocument, names: KindNames): JsonObject {
  return ofStateJson(shownState(state, names), names);
}

type Outputs = { readonly [name: string]: RecordedOutput };

export function outputsText(outputs: Outputs, palette: Palette): string {
  return ofOutputsText(shownOutputs(outputs), palette);
}

export function outputsJson(outputs: Outputs): JsonObject {
  return ofOutputsJson(shownOutputs(outputs));
}
