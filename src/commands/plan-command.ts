/** @module Runs `plan`: compares the manifest with the service and prints the changes. */

import { kinds } from "../kinds/index.ts";
import { exitCodes, type GraphformError, ownError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import { hasChanges } from "../plan/plan.ts";
import { resolving } from "../project/open-run.ts";
import { openProject, type Project } from "../project/project.ts";
import { savePlan } from "../project/saved-plan.ts";
import { assertAddressesKnown, planFor } from "../reconcile/plan-for.ts";
import { jsonText } from "../report/json-text.ts";
import { makePalette } from "../report/palette.ts";
import { planJson } from "../report/plan-json.ts";
import { erroredPlanJson } from "../report/problems-json.ts";
import { type ShownPlan, shownPlan } from "../report/shown.ts";
import { reportText } from "../report/text/report-text.ts";
import { planView } from "../report/view/plan-view.ts";
import { kindNames } from "../report/words.ts";
import type { PlanChoices } from "../state/plan-file.ts";
import { commitOfJob } from "./ci/newest-commit.ts";
import { goalOf, type ManifestOptions } from "./options.ts";
import type { PlanReportContext, PlanReportOptions } from "./reports/plan-reports.ts";
import { comparedWith, earlierPlan, isReportError } from "./reports/write-html.ts";
import { assertReportFiles, writerOf } from "./reports/write-report.ts";
import { openLiveView } from "./terminal/live-view.ts";
import { type Invocation, withRun } from "./with-run.ts";

/** Options of `plan`. */
export interface PlanCommandOptions extends ManifestOptions, PlanChoices, PlanReportOptions {
  readonly json?: boolean;
  readonly out?: string;
  readonly detailedExitcode?: boolean;
  /** Plans the removal of everything that the state owns. */
  readonly destroy?: boolean;
}

/**
 * `plan`: prints the changes that apply would make. Writes no file except those of --out and --html. With --json a failure is printed
 * as a plan document too, with `errored: true`.
 */
export async function plan(invocation: Invocation<PlanCommandOptions>): Promise<number> {
  const { options, settings, terminal } = invocation;
  const { out, sarif, gitlab, markdown, html, json = false, destroy = false } = options;
  let name = "";
  try {
    assertReportFiles({ out, sarif, gitlab, markdown, html });
    const project = await openProject(options, settings);
    name = project.header.name;
    const { plan: made, earlier } = await makePlan(project, invocation);
    const names = kindNames(kinds.all);
    const { writePlanReports } = await import("./reports/plan-reports.ts");
    const { files: manifest } = project;
    await writePlanReports(made, options, { names, manifest, settings, terminal, ...defined({ earlier }) });
    const page = { palette: makePalette(terminal.colour), width: terminal.width };
    const command = destroy ? "destroy" : "apply";
    terminal.out(
      json ? `${jsonText(planJson(made, names))}\n` : reportText(planView(made, { command }), page),
    );
    return options.detailedExitcode === true && hasChanges(made) ? exitCodes.changes : exitCodes.done;
  } catch (thrown) {
    const error = ownError(thrown, settings.secrets.hide);
    await reportFailure(error, name, invocation);
    if (json) terminal.out(`${jsonText(erroredPlanJson(error))}\n`);
    throw error;
  }
}

/** Reports what ended the run, but not that a report cannot be written. */
async function reportFailure(
  error: GraphformError,
  name: string,
  { options, settings, terminal }: Invocation<PlanCommandOptions>,
): Promise<void> {
  if (isReportError(error)) return;
  const { writeNoPlanReports } = await import("./reports/plan-reports.ts");
  await writeNoPlanReports(error, options, { name, manifest: options.file, settings, terminal });
}

/** A plan that was made, with what its reports need. */
export interface MadePlan {
  readonly plan: ShownPlan;
  /** The comparison with the plan of --compare. */
  readonly earlier?: PlanReportContext["earlier"];
}

/** Observes the service and makes the plan of a project; saves it if --out names a file. Prints no result. */
export async function makePlan(
  project: Project,
  invocation: Invocation<PlanCommandOptions>,
): Promise<MadePlan> {
  const { options, settings, terminal } = invocation;
  const earlier = await earlierPlan(options);
  const destroying = options.destroy === true;
  // A removal needs no secret: a missing one must not prevent it.
  const reading = resolving(destroying ? "at hand" : "declared");
  const view = await openLiveView(terminal, options.json !== true);
  return withRun(invocation, { project, reading, creates: !destroying }, async (run) => {
    const goal = goalOf(run, options, destroying);
    assertAddressesKnown(goal, run.state, kinds);
    view?.reading(0, 0);
    const { plan: made } = await planFor(goal, run.state, { ...run.planning, onRead: view?.reading });
    view?.clear();
    if (options.out !== undefined) {
      const writer = { ...writerOf(options.out, terminal), signal: run.signal };
      await savePlan(options.out, made, { run, options, commit: commitOfJob(settings), destroying }, writer);
    }
    const names = kindNames(kinds.all);
    const compared = earlier && (await comparedWith(earlier, made, names));
    return { plan: shownPlan(made, names), ...defined({ earlier: compared }) };
  }).finally(view?.clear);
}
