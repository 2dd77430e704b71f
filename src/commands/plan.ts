/** @module Runs `plan`: compares the manifest with the service and prints the changes. */

import { kinds } from "../kinds/index.ts";
import { secretReader, secretsAtHand } from "../manifest/read-secret.ts";
import { exitCodes, type GraphformError, ownError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import { hasChanges } from "../plan/plan.ts";
import { openProject, type Project } from "../project/project.ts";
import { savePlan } from "../project/saved-plan.ts";
import { openSession } from "../project/session.ts";
import type { Settings } from "../project/settings.ts";
import { planningWorld } from "../project/worlds.ts";
import { assertAddressesKnown, planFor } from "../reconcile/plan-for.ts";
import { erroredPlanJson } from "../report/error-json.ts";
import { jsonText } from "../report/json-text.ts";
import { makePalette } from "../report/palette.ts";
import { planJson } from "../report/plan-json.ts";
import { type ShownPlan, shownPlan } from "../report/shown.ts";
import { reportText } from "../report/text/report-text.ts";
import { planView } from "../report/view/plan-view.ts";
import { kindNames } from "../report/words.ts";
import { emptyState } from "../state/document.ts";
import type { PlanChoices } from "../state/plan-file.ts";
import { commitOfJob } from "./ci/newest-commit.ts";
import { type ManifestOptions, planOptions } from "./options.ts";
import type { PlanReportContext, PlanReportOptions } from "./reports/plan-reports.ts";
import { comparedWith, earlierPlan, isReportError } from "./reports/write-html.ts";
import { assertReportFiles, writerOf } from "./reports/write-report.ts";
import { runListener } from "./run-listener.ts";
import { latestState } from "./service-target.ts";
import { listenForInterrupts } from "./terminal/listen-for-interrupts.ts";
import { openLiveView } from "./terminal/live-view.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { interrupted } from "./under-lock.ts";

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
export async function plan(
  options: PlanCommandOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { out, sarif, gitlab, markdown, html } = options;
  let name = "";
  try {
    assertReportFiles({ out, sarif, gitlab, markdown, html });
    const project = await openProject(options, settings);
    name = project.header.name;
    const made = await makePlan(project, options, settings, terminal);
    const names = kindNames(kinds.all);
    const { writePlanReports } = await import("./reports/plan-reports.ts");
    await writePlanReports(made.plan, options, { names, manifest: made.files, settings, terminal, ...made });
    const page = { palette: makePalette(terminal.colour), width: terminal.width };
    const command = options.destroy === true ? "destroy" : "apply";
    terminal.out(
      options.json === true
        ? `${jsonText(planJson(made.plan, names))}\n`
        : reportText(planView(made.plan, { command }), page),
    );
    return options.detailedExitcode === true && hasChanges(made.plan) ? exitCodes.changes : exitCodes.done;
  } catch (thrown) {
    const error = ownError(thrown, settings.secrets.hide);
    await reportFailure(error, name, options, settings, terminal);
    if (options.json === true) terminal.out(`${jsonText(erroredPlanJson(error))}\n`);
    throw error;
  }
}

/** Reports what ended the run, but not that a report cannot be written. */
async function reportFailure(
  error: GraphformError,
  name: string,
  options: PlanCommandOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  if (isReportError(error)) return;
  const { writeNoPlanReports } = await import("./reports/plan-reports.ts");
  await writeNoPlanReports(error, options, { name, manifest: options.file, settings, terminal });
}

/** A plan that was made, with what its reports need. */
export interface MadePlan {
  readonly plan: ShownPlan;
  /** Manifest files. */
  readonly files: readonly string[];
  /** The comparison with the plan of --compare. */
  readonly earlier?: PlanReportContext["earlier"];
}

/** Observes the service and makes the plan of a project; saves it where --out names a file. Prints no result. */
export async function makePlan(
  project: Project,
  options: PlanCommandOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<MadePlan> {
  const earlier = await earlierPlan(options);
  const state = (await latestState(project.store, terminal)) ?? emptyState(project.header.name);
  // A state that was never written has no key yet, and a plan must not create one.
  const key = state.serial === 0 ? undefined : state.key;
  const destroying = options.destroy === true;
  const session = await openSession(
    project,
    { state, sealing: { key }, isDestroying: destroying },
    options,
    settings,
    runListener(options, terminal),
    // What is removed needs no secret: one that is gone does not keep it.
    destroying ? secretsAtHand(settings.environment()) : secretReader(settings.environment()),
  );
  const interrupts = listenForInterrupts(() => {});
  const view = await openLiveView(terminal, options.json !== true);
  try {
    const goal = {
      manifest: session.manifest,
      options: planOptions(options),
      timestamp: project.timestamp,
      destroying,
      probing: options.probe !== false,
    };
    assertAddressesKnown(goal, session.state, kinds);
    const world = planningWorld(session.service, interrupts.stopping, {
      clock: session.clock,
      open: session.vault.open,
    });
    view?.reading(0, 0);
    const { plan: result } = await planFor(goal, session.state, { ...world, onRead: view?.reading });
    view?.clear();
    if (options.out !== undefined) {
      const writer = { ...writerOf(options.out, terminal), signal: interrupts.stopping };
      const made = { project, session, options, commit: commitOfJob(settings), destroying };
      await savePlan(options.out, result, made, writer);
    }
    const names = kindNames(kinds.all);
    const compared = earlier && (await comparedWith(earlier, result, names));
    return {
      plan: shownPlan(result, names),
      files: project.files,
      ...defined({ earlier: compared }),
    };
  } catch (error) {
    throw interrupts.stopping.aborted ? interrupted() : error;
  } finally {
    view?.clear();
    interrupts.release();
    await session.service.close();
  }
}
