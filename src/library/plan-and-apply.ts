/** @module Plans, applies and looks for drift from a program. */
import { kinds } from "../kinds/index.ts";
import type { DriftReport } from "../model/drift.ts";
import { GraphformError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { ApplyEvent, Outcome } from "../model/outcome.ts";
import type { Plan, PlanOptions } from "../model/plan.ts";
import type { StateDocument } from "../model/state.ts";
import { type OpenRunRequest, openRun, type ReadManifest, type Run, resolving } from "../project/open-run.ts";
import { assertApplicable, assertPlannedHere, assertSecretsKept, savePlan } from "../project/saved-plan.ts";
import { assertAddressesKnown, type Goal, planFor } from "../reconcile/plan-for.ts";
import { driftFor, reconcile } from "../reconcile/reconcile.ts";
import { recordOwner } from "../state/claim-state.ts";
import { readPlanFile } from "../state/plan-file.ts";
import { withSeals } from "../state/vault.ts";
import { internalsOf } from "./handles.ts";
import type { LoadedManifest, OpenService, OpenState } from "./open.ts";

/** Input that `plan`, `drift` and `apply` share. */
export interface PlanRequest extends Partial<PlanOptions> {
  readonly manifest: LoadedManifest;
  readonly service: OpenService;
  readonly state: OpenState;
  /** True to plan the deletion of every resource of the state. */
  readonly destroying?: boolean;
  /** False to ask no running database. Default: true. */
  readonly probe?: boolean;
  /** Ids of objects that other states bind: they are not taken for objects that this state has made and lost. Ids that this state binds are not hidden by it. */
  readonly boundElsewhere?: ReadonlySet<string>;
  /** Ends all waiting; requests in flight finish and are recorded. */
  readonly signal?: AbortSignal;
}

/** Input of `plan`. */
export interface PlanOnlyRequest extends PlanRequest {
  /** File that the plan is saved to, for `apply` or the command line. */
  readonly out?: string;
}

/**
 * Compares the manifest with the service and returns the changes that `apply` would make. Writes nothing but `out`, unless an interrupted
 * cutover has left a database that takes no writes: it takes them again first. Throws
 * `ManifestError`, `ServiceError`, and `GraphformError` with a code and a hint.
 */
export async function plan(request: PlanOnlyRequest): Promise<Plan> {
  const { out } = request;
  const state = await request.state.read();
  return runOf(request, { state, repairs: () => undefined }, async (run, goal) => {
    assertAddressesKnown(goal, run.state, kinds);
    const { plan: made } = await planFor(goal, run.state, run.planning);
    if (out !== undefined) {
      const { targets: target, ...choices } = goal.options;
      const options = { ...choices, target, ...(goal.probing === false ? { probe: false } : {}) };
      const writer = { waiting: () => undefined, print: () => undefined, signal: run.signal };
      await savePlan(out, made, { run, options, commit: undefined, destroying: goal.destroying }, writer);
    }
    return made;
  });
}

/** Reads a saved plan. Throws `plan-unreadable`, `plan-foreign` and their like for a file that is none. */
export async function readPlan(file: string): Promise<Plan> {
  return (await readPlanFile(file)).plan;
}

/** Input of `drift`. */
export interface DriftRequest extends Omit<PlanRequest, "destroying" | "replace" | "allowDestroy"> {
  /** True to list objects that the manifest does not declare, too. */
  readonly unmanaged?: boolean;
}

/**
 * Compares the service with the last apply: what was changed outside, and what is declared and not applied yet. Writes nothing. Throws
 * like `plan`, and `state-missing` before the first apply.
 */
export async function drift(request: DriftRequest): Promise<DriftReport> {
  const { unmanaged: withUnmanaged = false } = request;
  const { where } = request.state;
  const state = await request.state.read();
  if (state === undefined)
    throw new GraphformError("state-missing", `there is no state at ${where}: nothing to compare with`, {
      hint: "if there was one, put it back; before the first apply there is none",
    });
  return runOf(request, { state }, async (run, goal) => {
    assertAddressesKnown(goal, run.state, kinds);
    const { layers } = run.project.parsed;
    const wanted = { ...goal, layers, withUnmanaged, skipsUnread: true };
    return (await driftFor(wanted, run.state, run.planning)).report;
  });
}

/** Input of `apply`. */
export interface ApplyRequest extends PlanRequest {
  /**
   * Decides whether to apply the plan, which was made under the lock of the state. To apply exactly the plan that was shown
   * before, compare: `(fresh) => fresh.fingerprint === shown.fingerprint`.
   */
  readonly approve: (plan: Plan) => boolean | Promise<boolean>;
  /** A saved plan, which is carried out in place of a new one. The manifest must be the one that it was made from. */
  readonly planFile?: string;
  /** Called with each event. Messages contain no secrets. */
  readonly onEvent?: (event: ApplyEvent) => void;
  /** Ms to wait for the lock of the state; 0, the default, does not wait. */
  readonly lockTimeout?: number;
  /** Longest wait for one resource in ms; default is that of the profile. */
  readonly timeout?: number;
}

/**
 * Plans under the lock of the state, applies the plan if it is approved, waits until everything has converged, and verifies
 * with a second plan. Returns undefined if the plan was not approved. The `exitCode` of the outcome is that of the command
 * line; 0 means no differences. Throws like `plan`, `locked` if another process holds the lock, and `state-unpushed` while a local
 * file has what an earlier run could not store; `plan-stale` (exit 6) if a saved plan does not hold any more.
 */
export async function apply(request: ApplyRequest): Promise<Outcome | undefined> {
  const { approve, planFile, lockTimeout: timeout = 0, onEvent = () => undefined } = request;
  const saved = planFile === undefined ? undefined : await readPlanFile(planFile);
  const destroying = request.destroying === true || saved?.destroying === true;
  const warn = (message: string): void => onEvent({ type: "warning", message });
  const { project } = internalsOf(request.manifest, request.service, request.state);
  const wanted = {
    lock: { operation: destroying ? "destroy" : "apply", timeout, warn },
    ...(saved && {
      acceptState: async (state: StateDocument) => assertApplicable(saved, project, state),
      acceptService: (identity: Run["identity"]) => assertPlannedHere(saved, identity),
    }),
  };
  const { target: targets, exclude, allowDestroy } = saved?.choices ?? {};
  const asSaved = { ...request, destroying, ...defined({ targets, exclude, allowDestroy }) };
  return runOf(asSaved, wanted, async (run, goal) => {
    const sealed = saved && withSeals(saved.plan, run.vault);
    if (sealed !== undefined) assertSecretsKept(sealed, run.vault.open);
    const warnings: string[] = [];
    const emit = (event: ApplyEvent): void => {
      if (event.type === "warning") warnings.push(event.message);
      onEvent(event);
    };
    const deps = run.applying({ emit });
    const report = { plan: () => {}, outcome: () => {}, warnings: () => warnings };
    const outcome = await reconcile(
      { goal, saved: sealed, approve: async (made) => approve(made) },
      deps,
      report,
    );
    if (outcome !== undefined) await recordOwner(deps.journal, run);
    return outcome;
  });
}

/** Opens a run of the handles of a request, with the goal of its plan. */
function runOf<T>(
  request: PlanRequest & Pick<ApplyRequest, "timeout">,
  wanted: Pick<OpenRunRequest<ReadManifest>, "lock" | "state" | "repairs" | "acceptState" | "acceptService">,
  work: (run: Run & ReadManifest, goal: Goal) => Promise<T>,
): Promise<T> {
  const { targets = [], exclude = [], replace = [], allowDestroy = [], cutover = [] } = request;
  const { maxDisruption, boundElsewhere } = request;
  const { destroying = false, probe, timeout: patience, signal = new AbortController().signal } = request;
  const { project, service: opened } = internalsOf(request.manifest, request.service, request.state);
  const service = { ...opened, connection: { ...opened.connection, ...defined({ patience }) } };
  const run = {
    ...{ project, service, signal, options: { state: project.store.where }, settings: opened.settings },
    reading: resolving("declared"),
    creates: !destroying,
    listener: { warnings: () => undefined, request: () => undefined },
  };
  return openRun({ ...run, ...wanted, ...defined({ boundElsewhere }) }, ({ manifest, ...rest }) => {
    const options = { targets, exclude, replace, allowDestroy, cutover, ...defined({ maxDisruption }) };
    const { timestamp } = project;
    const goal = { manifest, options, timestamp, destroying, probing: probe !== false };
    return work({ manifest, ...rest }, goal);
  });
}
