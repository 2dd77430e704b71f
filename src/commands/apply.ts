/** @module Runs `apply` and `destroy`: plan, confirm, apply, converge, verify. */
import { secretReader, secretsAtHand } from "../manifest/read-secret.ts";
import { systemClock } from "../model/clock.ts";
import { exitCodes, ownError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { StateDocument } from "../model/state.ts";
import { openProject, type Project } from "../project/project.ts";
import {
  assertApplicable,
  assertAsSaved,
  assertPlannedHere,
  assertSecretsKept,
} from "../project/saved-plan.ts";
import { openSession, type Session, whileHeld } from "../project/session.ts";
import type { Settings } from "../project/settings.ts";
import { applyWorld } from "../project/worlds.ts";
import type { Goal } from "../reconcile/plan-for.ts";
import { type RunRequest, reconcile } from "../reconcile/reconcile.ts";
import { recordOwner } from "../state/claim-state.ts";
import { emptyState } from "../state/document.ts";
import { type PlanChoices, readPlanFile, type SavedPlan } from "../state/plan-file.ts";
import type { Lock } from "../state/store.ts";
import { withSeals } from "../state/vault.ts";
import { type ApprovalOptions, assertApprovable, isApproved } from "./approval.ts";
import { assertNewest } from "./ci/newest-commit.ts";
import { type ManifestOptions, planOptions } from "./options.ts";
import { type ApplyReport, applyReport } from "./reports/apply-report.ts";
import { runListener } from "./run-listener.ts";
import { type Interrupts, listenForInterrupts } from "./terminal/listen-for-interrupts.ts";
import { openLiveView } from "./terminal/live-view.ts";
import { printError } from "./terminal/print-error.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { interruptedOr } from "./under-lock.ts";

/** Options of `apply` and `destroy`. */
export interface ApplyOptions extends ManifestOptions, PlanChoices, ApprovalOptions {
  readonly json?: boolean;
  /** Shows the plan that would be made now if the saved one is out of date; it is not applied. */
  readonly replan?: boolean;
}

/** `apply` and `destroy`: returns the exit code. A second plan after the changes verifies the result. */
export async function apply(options: ApplyOptions, settings: Settings, terminal: Terminal): Promise<number> {
  const view = await openLiveView(terminal, options.json !== true);
  let report = applyReport(options.json === true, terminal, commandOf(options), view);
  const interrupts = listenForInterrupts(() =>
    terminal.err("\ninterrupted: finishing the requests in flight; press Ctrl-C again to stop at once\n"),
  );
  let again = async (): Promise<void> => undefined;
  try {
    assertApprovable(options, terminal);
    const { planFile } = options;
    const saved = planFile === undefined ? undefined : await readPlanFile(planFile);
    if (saved !== undefined) assertAsSaved(options, saved, planFile ?? "");
    const chosen = saved === undefined ? options : withSaved(options, saved);
    if (saved !== undefined && options.replan === true)
      again = () => replan(chosen, saved, settings, terminal);
    report = applyReport(options.json === true, terminal, commandOf(chosen), view);
    const exitCode = await applyUnderLock(chosen, saved, report, interrupts, settings, terminal);
    report.end(undefined);
    if (exitCode === exitCodes.stale) await again();
    return exitCode;
  } catch (error) {
    const reported = ownError(interruptedOr(error, interrupts.stopping), settings.secrets.hide);
    report.end(reported.exitCode);
    report.error(reported);
    if (reported.code === "plan-stale") await again();
    throw reported;
  } finally {
    view?.clear();
    interrupts.release();
  }
}

async function applyUnderLock(
  options: ApplyOptions,
  saved: SavedPlan | undefined,
  report: ApplyReport,
  interrupts: Interrupts,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const project = await openProject(options, settings);
  const lock = await project.store.lock(commandOf(options), {
    clock: systemClock,
    timeout: options.lockTimeout ?? 0,
    signal: interrupts.stopping,
    warn: (message) => report.event({ type: "warning", message }),
  });
  return whileHeld(lock, async () => {
    const state = (await project.store.read()) ?? emptyState(project.header.name);
    if (saved !== undefined) {
      assertApplicable(saved, project, state);
      await assertNewest(saved.commit, settings);
    }
    const secrets = options.destroying
      ? secretsAtHand(settings.environment())
      : secretReader(settings.environment(), undefined, interrupts.stopping);
    const session = await openSession(
      project,
      {
        state,
        isDestroying: options.destroying,
        ...(saved && { assertPlannedHere: (identity) => assertPlannedHere(saved, identity) }),
        signal: interrupts.stopping,
      },
      options,
      settings,
      runListener(options, terminal),
      secrets,
    );
    const sealed = saved === undefined ? undefined : withSeals(saved.plan, session.vault);
    if (sealed !== undefined) assertSecretsKept(sealed, session.vault.open);
    const plan = sealed === undefined ? {} : { saved: sealed };
    return reconcileAndClose({
      options,
      ...plan,
      project,
      stored: state,
      session,
      report,
      interrupts,
      lock,
      terminal,
    });
  });
}

/** Everything that one apply needs once it has the lock. */
interface Run {
  readonly options: ApplyOptions;
  /** Plan of a file, its secrets sealed with the key of this run. */
  readonly saved?: Plan;
  readonly project: Project;
  /** The state as it was read. */
  readonly stored: StateDocument;
  readonly session: Session;
  readonly report: ApplyReport;
  readonly interrupts: Interrupts;
  readonly lock: Lock;
  readonly terminal: Terminal;
}

async function reconcileAndClose(run: Run): Promise<number> {
  const { options, saved, project, stored, session, report, interrupts, lock, terminal } = run;
  const { view } = report;
  const { service, state, clock, vault } = session;
  const { stopping, aborting } = interrupts;
  const world = applyWorld({
    ...{ service, store: project.store, state, lock, clock },
    ...{ stopping, aborting, open: vault.open, emit: report.event },
    ...{ onRead: view?.reading, onStatus: view?.status },
  });
  view?.reading(0, 0);
  try {
    const request: RunRequest = {
      goal: goalOf(options, project, session),
      saved,
      approve: (plan) => isApproved(plan, options, terminal, world.stopping),
    };
    const outcome = await reconcile(request, world, report);
    if (outcome !== undefined) await recordOwner(world.journal, stored);
    return outcome?.exitCode ?? exitCodes.error;
  } finally {
    await session.service.close();
  }
}

function goalOf(options: ApplyOptions, project: Project, { manifest }: Session): Goal {
  return {
    manifest,
    options: planOptions(options),
    timestamp: project.timestamp,
    destroying: options.destroying,
    probing: options.probe !== false,
  };
}

/** Takes manifest files and variables from the saved plan unless the command line names them, and destroys where it was made to. */
function withSaved(options: ApplyOptions, saved: SavedPlan): ApplyOptions {
  const variables = Object.entries(saved.variables).map(([name, value]) => `${name}=${String(value)}`);
  const file = options.file.length === 0 ? saved.manifest.map((entry) => entry.path) : options.file;
  const destroying = options.destroying || saved.destroying === true;
  return { ...options, file, destroying, var: [...variables, ...options.var] };
}

/** Shows what a plan with the options of the saved one comes to now. That it cannot be made is said, and nothing else becomes of it. */
async function replan(
  options: ApplyOptions,
  { choices, destroying = false }: SavedPlan,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const { plan } = await import("./plan.ts");
  try {
    await plan({ ...options, ...choices, destroy: destroying }, settings, terminal);
    terminal.err("This is the plan now. It was not applied: save it, and have it approved.\n");
  } catch (error) {
    await printError(ownError(error, settings.secrets.hide), terminal);
  }
}

function commandOf({ destroying }: ApplyOptions): "apply" | "destroy" {
  return destroying ? "destroy" : "apply";
}
