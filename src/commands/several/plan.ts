/** @module Runs `plan` on several manifests: a plan for each, one report and one exit code. */
import { kinds } from "../../kinds/index.ts";
import { exitCodes, ownError } from "../../model/errors.ts";
import { hasChanges } from "../../plan/plan.ts";
import { openProject } from "../../project/project.ts";
import { planAnnotations } from "../../report/github/annotations.ts";
import { jsonText } from "../../report/json-text.ts";
import { reportMarkdown } from "../../report/markdown/report-markdown.ts";
import { makePalette } from "../../report/palette.ts";
import { planJson } from "../../report/plan-json.ts";
import { gitlabCounts, planLine, summarize } from "../../report/plan-summary.ts";
import { erroredPlanJson } from "../../report/problems-json.ts";
import { planFindings } from "../../report/sarif/plan-findings.ts";
import { exitOfAll, madeOf } from "../../report/several/manifest-result.ts";
import { reportText } from "../../report/text/report-text.ts";
import { planView } from "../../report/view/plan-view.ts";
import { kindNames } from "../../report/words.ts";
import { type MadePlan, makePlan, type PlanCommandOptions } from "../plan-command.ts";
import { writePlanOutputs } from "../reports/plan-outputs.ts";
import { writeFailureHtml, writePlanHtml } from "../reports/write-html.ts";
import { assertReportFiles, writeReport } from "../reports/write-report.ts";
import type { Invocation } from "../with-run.ts";
import { inEachFolder } from "./folders.ts";
import { printSeveral, type SeveralParts, writeSeveralReports } from "./reports.ts";

/**
 * `plan` with several --chdir: plans each manifest as if started in its folder, where --out and --html write. All other reports hold all
 * plans, and stand in the folder of the command. Exits with the worst code; 2 where there are changes and --detailed-exitcode was given.
 */
export async function planSeveral(
  invocation: Invocation<PlanCommandOptions>,
  folders: readonly string[],
): Promise<number> {
  const { options, settings, terminal } = invocation;
  const { sarif, gitlab, markdown, out, html, destroy } = options;
  assertReportFiles({ sarif, gitlab, markdown });
  assertReportFiles({ out, html });
  const names = kindNames(kinds.all);
  const next = { planFile: out, command: destroy === true ? "destroy" : "apply" } as const;
  const results = await inEachFolder(folders, settings, async (opened) => {
    try {
      const project = await openProject(options, settings);
      await opened(project);
      const made = await makePlan(project, invocation);
      if (html !== undefined)
        await writePlanHtml(html, made.plan, names, { ...next, earlier: made.earlier, terminal });
      return made;
    } catch (thrown) {
      const error = ownError(thrown, settings.secrets.hide);
      if (html !== undefined) await writeFailureHtml(html, error, terminal);
      throw error;
    }
  });
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  const parts: SeveralParts<MadePlan> = {
    report: "plan",
    differs,
    line: ({ plan }) => planLine(summarize(plan)),
    markdown: ({ plan }, bytes) => reportMarkdown(planView(plan, next), bytes),
    findings: ({ plan }) => planFindings(plan),
    annotations: ({ plan }, pathOf) => planAnnotations(plan, pathOf),
    text: ({ plan }) => reportText(planView(plan, { command: next.command }), page),
    json: ({ plan }) => planJson(plan, names),
    failedJson: erroredPlanJson,
  };
  await writeSeveralReports(results, parts, { markdown, sarif }, { settings, terminal });
  const plans = madeOf(results).map(({ value }) => value.plan);
  // As for one plan: numbers that lack a manifest would say less than there is.
  if (gitlab !== undefined && plans.length === results.length)
    await writeReport("gitlab", gitlab, `${jsonText(gitlabCounts(plans))}\n`, terminal);
  await writePlanOutputs(plans, { markdown, sarif }, settings, terminal);
  await printSeveral(results, parts, options.json === true, terminal);
  const code = exitOfAll(results, differs);
  return code === exitCodes.changes && options.detailedExitcode !== true ? exitCodes.done : code;
}

function differs({ plan }: MadePlan): boolean {
  return hasChanges(plan);
}
