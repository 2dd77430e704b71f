/** @module Runs `plan`: compares the manifest with the service and prints the changes. */
import { kinds } from "../kinds/index.ts";
import { exitCodes } from "../model/errors.ts";
import { hasChanges } from "../plan/plan.ts";
import { openProject } from "../project/project.ts";
import { openSession } from "../project/session.ts";
import { planningWorld } from "../project/worlds.ts";
import { assertAddressesKnown, planFor } from "../reconcile/plan-for.ts";
import { erroredPlanJson } from "../report/error-json.ts";
import { jsonText } from "../report/json-text.ts";
import { kindNames } from "../report/kind-words.ts";
import { makePalette } from "../report/palette.ts";
import { planJson } from "../report/plan-json.ts";
import { planText } from "../report/plan-text.ts";
import { emptyState } from "../state/document.ts";
import { listenForInterrupts } from "./listen-for-interrupts.ts";
import { type ManifestOptions, type PlanChoices, planOptions } from "./options.ts";
import { runListener } from "./run-listener.ts";
import { savePlan } from "./saved-plan.ts";
import type { Terminal } from "./terminal.ts";
import { interrupted } from "./under-lock.ts";
import { earlierPlan, isReportError, writeFailureHtml, writePlanHtml } from "./write-plan-html.ts";
import { assertReportFiles } from "./write-report.ts";

/** Options of `plan`. */
export interface PlanCommandOptions extends ManifestOptions, PlanChoices {
  readonly json?: boolean;
  readonly out?: string;
  readonly html?: string;
  /** A saved plan that the page is compared with. */
  readonly compare?: string;
  readonly detailedExitcode?: boolean;
}

/**
 * `plan`: prints the changes that apply would make. Writes no file except those of --out and --html. With --json a failure is printed
 * as a plan document too, with `errored: true`.
 */
export async function plan(
  options: PlanCommandOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const { out, html } = options;
  try {
    assertReportFiles({ out, html });
    return await makePlan(options, env, terminal);
  } catch (error) {
    // What ended the run is reported, whatever becomes of the page that says so.
    if (html !== undefined && !isReportError(error))
      await writeFailureHtml(html, error, terminal).catch(() => undefined);
    if (options.json === true) terminal.out(`${jsonText(erroredPlanJson(error))}\n`);
    throw error;
  }
}

async function makePlan(
  options: PlanCommandOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const earlier = await earlierPlan(options);
  const project = await openProject(options);
  const state = (await project.store.read()) ?? emptyState(project.header.name);
  // A state that was never written has no key yet, and a plan must not create one.
  const key = state.serial === 0 ? undefined : state.key;
  const session = await openSession(
    project,
    { state, sealing: { key } },
    options,
    env,
    runListener(options, terminal),
  );
  const interrupts = listenForInterrupts(() => {});
  try {
    const intention = {
      manifest: session.manifest,
      options: planOptions(options),
      timestamp: project.timestamp,
      destroying: false,
    };
    assertAddressesKnown(intention, session.state, kinds);
    const world = planningWorld(session.service, interrupts.stopping, session.clock);
    const { plan: result } = await planFor(intention, session.state, world);
    if (options.out !== undefined) await savePlan(options.out, result, project, session);
    const names = kindNames(kinds.all);
    if (options.html !== undefined)
      await writePlanHtml(options.html, result, names, { planFile: options.out, earlier, terminal });
    const page = { palette: makePalette(terminal.colour), width: terminal.width };
    terminal.out(
      options.json === true ? `${jsonText(planJson(result, names))}\n` : planText(result, names, page),
    );
    return options.detailedExitcode === true && hasChanges(result) ? exitCodes.changes : exitCodes.done;
  } catch (error) {
    throw interrupts.stopping.aborted ? interrupted() : error;
  } finally {
    interrupts.release();
    await session.service.close();
  }
}
