import { kinds } from "../kinds/index.ts";
import { exitCodes } from "../model/errors.ts";
import { hasChanges } from "../plan/plan.ts";
import { openProject } from "../project/project.ts";
import { openSession, planningWorld } from "../project/session.ts";
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

/** What `plan` was told. */
export interface PlanCommandOptions extends ManifestOptions, PlanChoices {
  readonly json?: boolean;
  readonly out?: string;
  readonly detailedExitcode?: boolean;
}

/**
 * `plan`: looks, compares and says what apply would do. Writes nothing anywhere but where it is told. With --json a plan
 * that could not be made is a document as well, which says that it is `errored`.
 */
export async function plan(
  options: PlanCommandOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  try {
    return await planned(options, env, terminal);
  } catch (error) {
    if (options.json === true) terminal.out(`${jsonText(erroredPlanJson(error))}\n`);
    throw error;
  }
}

async function planned(
  options: PlanCommandOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const project = await openProject(options);
  const state = (await project.store.read()) ?? emptyState(project.header.name);
  // A state that was never written has no key yet, and a plan must not bring one along.
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
    const world = planningWorld(session, interrupts.stopping);
    const { plan: made } = await planFor(intention, session.state, world);
    if (options.out !== undefined) await savePlan(options.out, made, project, session);
    const names = kindNames(kinds);
    const page = { palette: makePalette(terminal.colour), width: terminal.width };
    terminal.out(
      options.json === true ? `${jsonText(planJson(made, names))}\n` : planText(made, names, page),
    );
    return options.detailedExitcode === true && hasChanges(made) ? exitCodes.changes : exitCodes.done;
  } catch (error) {
    throw interrupts.stopping.aborted ? interrupted() : error;
  } finally {
    interrupts.release();
    await session.service.close();
  }
}
