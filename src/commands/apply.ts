/** @module Runs `apply` and `destroy`: plan, confirm, apply, converge, verify. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodes, GraphformError, ownError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import { hasChanges, type Plan } from "../model/plan.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { openRun, resolving } from "../project/open-run.ts";
import { openProject } from "../project/project.ts";
import {
  assertApplicable,
  assertAsSaved,
  assertPlannedHere,
  assertSecretsKept,
} from "../project/saved-plan.ts";
import { reconcile } from "../reconcile/reconcile.ts";
import { affectedBy, maxNamed } from "../report/view/plan-view.ts";
import { recordOwner } from "../state/claim-state.ts";
import { type PlanChoices, readPlanFile, type SavedPlan } from "../state/plan-file.ts";
import { withSeals } from "../state/vault.ts";
import { assertNewest } from "./ci/newest-commit.ts";
import { goalOf } from "./options.ts";
import { type ApplyReport, applyReport } from "./reports/apply-report.ts";
import { type Interrupts, listenForInterrupts } from "./terminal/listen-for-interrupts.ts";
import { openLiveView } from "./terminal/live-view.ts";
import { printError } from "./terminal/print-error.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { type Invocation, interruptedOr, type ManifestOptions, runListener } from "./with-run.ts";

interface ApplyOptions extends ManifestOptions, PlanChoices, ApprovalOptions {
  /** Shows the plan that would be made now if the saved one is out of date; it is not applied. */
  readonly replan?: boolean;
}

type Given = Invocation<Omit<ApplyOptions, "destroying" | "planFile">>;

/** `apply [PLANFILE]`: returns the exit code. A second plan after the changes verifies the result. */
export function apply({ options, ...given }: Given, planFile?: string): Promise<number> {
  return applied({ ...given, options: { ...options, ...defined({ planFile }), destroying: false } });
}

/** `destroy`: removes what the state owns. */
export function destroy({ options, ...given }: Given): Promise<number> {
  return applied({ ...given, options: { ...options, destroying: true } });
}

async function applied(invocation: Invocation<ApplyOptions>): Promise<number> {
  const { options, settings, terminal } = invocation;
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
    const chosen = { ...invocation, options: saved === undefined ? options : withSaved(options, saved) };
    if (saved !== undefined && options.replan === true) again = () => replan(chosen, saved);
    report = applyReport(options.json === true, terminal, commandOf(chosen.options), view);
    const exitCode = await applyUnderLock(chosen, saved, report, interrupts);
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
  { options, settings, terminal }: Invocation<ApplyOptions>,
  saved: SavedPlan | undefined,
  report: ApplyReport,
  { stopping, aborting, hurrying }: Interrupts,
): Promise<number> {
  const project = await openProject(options, settings);
  const { destroying, lockTimeout: timeout = 0 } = options;
  const { view, event: emit } = report;
  const warn = (message: string): void => emit({ type: "warning", message });
  const request = {
    ...{ project, options, settings, listener: runListener(options, terminal), signal: stopping },
    reading: resolving(destroying ? "at hand" : "declared"),
    creates: !destroying,
    lock: { operation: commandOf(options), timeout, warn, hurrying },
    ...(saved && {
      async acceptState(state: StateDocument) {
        assertApplicable(saved, project, state);
        await assertNewest(saved.commit, settings, { patience: options.timeout, signal: stopping });
      },
      acceptService: (identity: ServiceIdentity) => assertPlannedHere(saved, identity),
    }),
  };
  return openRun(request, async (run) => {
    const { manifest, vault } = run;
    // The secrets of the file, sealed with the key of this run.
    const sealed = saved && withSeals(saved.plan, vault);
    if (sealed !== undefined) assertSecretsKept(sealed, vault.open);
    const deps = run.applying({
      emit,
      aborting,
      ...defined({ onRead: view?.reading, onStatus: view?.status }),
    });
    view?.reading(0, 0);
    const goal = goalOf({ project, manifest }, options, destroying);
    const approve = (plan: Plan): Promise<boolean> => isApproved(plan, options, terminal, deps.stopping);
    const outcome = await reconcile({ goal, saved: sealed, approve }, deps, report);
    if (outcome !== undefined) await recordOwner(deps.journal, run);
    return outcome?.exitCode ?? exitCodes.error;
  });
}

/** Takes manifest files and variables from the saved plan unless the command line names them, destroys if it was made to, and leaves out what it left out. */
function withSaved(options: ApplyOptions, saved: SavedPlan): ApplyOptions {
  const variables = Object.entries(saved.variables).map(([name, value]) => `${name}=${String(value)}`);
  const file = options.file.length === 0 ? saved.manifest.map((entry) => entry.path) : options.file;
  const destroying = options.destroying || saved.destroying === true;
  const { target = [], exclude = [], allowDestroy = [] } = saved.choices ?? {};
  const choices = { target, exclude, allowDestroy };
  return { ...options, ...choices, file, destroying, var: [...variables, ...options.var] };
}

/** Shows a new plan with the options of the saved one. If it cannot be made, a message says so and the command goes on. */
async function replan(
  { options, ...invocation }: Invocation<ApplyOptions>,
  { choices, destroying = false }: SavedPlan,
): Promise<void> {
  const { settings, terminal } = invocation;
  const { plan } = await import("./plan-command.ts");
  try {
    await plan({ ...invocation, options: { ...options, ...choices, destroy: destroying } });
    terminal.err("This is the plan now. It was not applied: save it, and have it approved.\n");
  } catch (error) {
    await printError(ownError(error, settings.secrets.hide), terminal);
  }
}

function commandOf({ destroying }: ApplyOptions): "apply" | "destroy" {
  return destroying ? "destroy" : "apply";
}

/** Options that replace the answer of a person, or change the question. */
interface ApprovalOptions {
  readonly planFile?: string;
  readonly autoApprove?: boolean;
  readonly destroying: boolean;
}

/** Throws `not-approved` if there is no terminal, no --auto-approve and no saved plan. */
function assertApprovable(options: ApprovalOptions, { interactive }: Terminal): void {
  if (options.autoApprove === true || options.planFile !== undefined || interactive) return;
  const verb = options.destroying ? "destroy" : "apply";
  throw new GraphformError("not-approved", `no terminal to ask on: ${verb} needs an approval`, {
    hint: options.destroying
      ? "graphform destroy --auto-approve"
      : "graphform apply --auto-approve, or save a plan and apply that",
  });
}

/** Returns true if the person answers yes, or if no question is needed. */
export async function isApproved(
  plan: Plan,
  options: ApprovalOptions,
  terminal: Terminal,
  stopping: AbortSignal,
): Promise<boolean> {
  if (options.autoApprove === true || options.planFile !== undefined || !hasChanges(plan)) return true;
  if (plan.steps.every((step) => step.blocked.length > 0)) return true;
  const isHeld = plan.steps.some((step) => step.blocked.length > 0);
  const [verb, all] = options.destroying ? ["Destroy", "all of this"] : ["Apply", "these changes"];
  const question = `${verb} ${isHeld ? "what is not blocked" : all}?`;
  const rest = await fileOfAll(plan);
  const yes = await terminal.confirm(`\n${rest}${question} Only "yes" is accepted: `, stopping);
  if (!yes) terminal.err("Nothing was changed.\n");
  return yes;
}

/** Names a file with everything that the plan disrupts if its text names a part only; otherwise nothing. */
async function fileOfAll(plan: Plan): Promise<string> {
  const affected = affectedBy(plan);
  if (affected.every(({ addresses }) => addresses.length <= maxNamed)) return "";
  const file = join(await mkdtemp(join(tmpdir(), "graphform-")), "affected.txt");
  const parts = affected.map(({ title, addresses }) => [`${title} (${addresses.length})`, ...addresses, ""]);
  await writeFile(file, parts.flat().join("\n"), { mode: 0o600 });
  return `Everything that is lost, replaced or restarted is named in ${file}.\n`;
}
