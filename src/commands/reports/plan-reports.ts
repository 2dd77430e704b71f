/** @module Writes the reports of a plan that options and the CI service ask for. */
import type { GraphformError } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import { probeFigures } from "../../report/census-json.ts";
import { planAnnotations } from "../../report/github/annotations.ts";
import type { Earlier } from "../../report/html/report-html.ts";
import { jsonText } from "../../report/json-text.ts";
import { failureMarkdown } from "../../report/markdown/failure-markdown.ts";
import { reportMarkdown } from "../../report/markdown/report-markdown.ts";
import { gitlabCounts } from "../../report/plan-summary.ts";
import { planFindings } from "../../report/sarif/plan-findings.ts";
import type { ShownPlan } from "../../report/shown.ts";
import { planView } from "../../report/view/plan-view.ts";
import type { KindNames } from "../../report/words.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { writePlanOutputs } from "./plan-outputs.ts";
import { writeFailureReports, writeSarif } from "./problem-reports.ts";
import { appendSummary, printAnnotations } from "./step-outputs.ts";
import { writeFailureHtml, writePlanHtml } from "./write-html.ts";
import { repositoryPath, writeReport } from "./write-report.ts";

/** Files of reports that `plan` writes. */
export interface PlanReportOptions {
  readonly sarif?: string;
  readonly gitlab?: string;
  readonly markdown?: string;
  readonly html?: string;
  /** A saved plan that the page of --html is compared with. */
  readonly compare?: string;
  /** File of the saved plan: the report in Markdown names the command that applies it. */
  readonly out?: string;
  /** True for the plan of `destroy`. */
  readonly destroy?: boolean;
}

/** Context of the reports of a plan. */
export interface PlanReportContext {
  readonly names: KindNames;
  /** Manifest files. */
  readonly manifest: readonly string[];
  readonly settings: Settings;
  readonly terminal: Terminal;
  /** The comparison with the plan of --compare. */
  readonly earlier?: Earlier | undefined;
}

/** Writes the reports of a plan, and prints annotations on GitHub. Throws `report-unwritable`. */
export async function writePlanReports(
  plan: ShownPlan,
  options: PlanReportOptions,
  { names, manifest, settings, terminal, earlier }: PlanReportContext,
): Promise<void> {
  const { sarif, gitlab, markdown, html, out: planFile, destroy } = options;
  const next = { planFile, command: destroy === true ? "destroy" : "apply" } as const;
  const view = planView(plan, next);
  if (sarif !== undefined)
    await writeSarif(planFindings(plan), {
      ...{ file: sarif, manifest, settings, terminal },
      figures: probeFigures(plan.census),
    });
  if (gitlab !== undefined)
    await writeReport("gitlab", gitlab, `${jsonText(gitlabCounts([plan]))}\n`, terminal);
  if (markdown !== undefined) await writeReport("markdown", markdown, reportMarkdown(view), terminal);
  if (html !== undefined) await writePlanHtml(html, plan, names, { ...next, earlier, terminal });
  await appendSummary((bytes) => reportMarkdown(view, bytes), settings, terminal);
  await writePlanOutputs([plan], { out: planFile, markdown, sarif }, settings, terminal);
  const annotations = planAnnotations(plan, repositoryPath(settings));
  await printAnnotations(annotations, "graphform plan --json has every change", settings, terminal);
}

/** Writes what the reports can say of a plan that could not be made, so that the plan of an earlier run is not taken for it. */
export async function writeNoPlanReports(
  error: GraphformError,
  { sarif, markdown, html }: PlanReportOptions,
  { name, ...context }: Omit<PlanReportContext, "names"> & { readonly name: string },
): Promise<void> {
  const { settings, terminal } = context;
  const text = failureMarkdown(error, name);
  if (markdown !== undefined) await writeReport("markdown", markdown, text, terminal);
  if (html !== undefined) await writeFailureHtml(html, error, terminal);
  await appendSummary(() => text, settings, terminal);
  await writeFailureReports(error, { sarif, ...context });
}
