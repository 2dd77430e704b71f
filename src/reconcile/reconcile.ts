/** @module One run of apply or destroy, from an open state to a verified outcome, in seven steps. */
import { outcomeOf } from "../apply/join-results.ts";
import { fieldRange } from "../manifest/locate.ts";
import type { Layer } from "../manifest/source.ts";
import { twinIn } from "../model/address.ts";
import type { DriftReport } from "../model/drift.ts";
import { exitCodes } from "../model/errors.ts";
import type { Outcome, StepOutcome } from "../model/outcome.ts";
import type { Change, Guard, Plan, Step } from "../model/plan.ts";
import type { StateDocument } from "../model/state.ts";
import { expectedTime } from "../model/time-limit.ts";
import { driftReport } from "../plan/drift/drift-report.ts";
import {
  type ApplyDependencies,
  applyPlan,
  rememberOthers,
  repairMigrations,
  resolveIntents,
} from "./apply-plan.ts";
import {
  assertAddressesKnown,
  type Goal,
  type Planned,
  type PlanningDependencies,
  planFor,
} from "./plan-for.ts";
import { verify } from "./verify.ts";

export interface RunRequest {
  readonly goal: Goal;
  /** A plan that was made and shown before: it is carried out in place of a new one. */
  readonly saved?: Plan | undefined;
  /** Says whether the plan may be carried out. Called once, after the plan was reported. */
  readonly approve: (plan: Plan) => Promise<boolean>;
}

export interface RunReport {
  plan(plan: Plan): void;
  /** Called once the plan is approved, before its first step: the steps, and the ms that each usually takes. */
  begin?(steps: readonly Step[], usual: (step: Step) => number): void;
  /** The plan of the second look, which the outcome is judged by. */
  second?(plan: Plan): void;
  outcome(outcome: Outcome): void;
  warnings(): readonly string[];
}

/**
 * Brings the service to what the manifest declares. Undefined if the plan was not approved: nothing was changed at the service then.
 * The caller holds the lock of the state. Rejects if planning or the second look fails; the steps are reported before.
 */
export async function reconcile(
  { goal, saved, approve }: RunRequest,
  deps: ApplyDependencies,
  report: RunReport,
): Promise<Outcome | undefined> {
  const look = (wanted: Goal): Promise<Planned> =>
    planFor(wanted, deps.journal.state, {
      ...deps,
      signal: deps.stopping,
      createsInDoubt: resumed.doubts,
    });

  // 1. What the options name must exist; those of a saved plan did when it was made.
  if (saved === undefined) assertAddressesKnown(goal, deps.journal.state, deps.kinds);
  // 2. Creates that an earlier run sent and never saw answered: found, or known to have made nothing.
  const resumed = await resolveIntents(deps, saved);
  // A cutover that ended in the middle has left a database that takes no writes.
  await repairMigrations(deps);
  // 3. Observe, compare, guard, order.
  const fresh = await look(goal);
  // 4. The plan that was shown is the one that is carried out.
  const chosen = saved === undefined ? fresh.plan : withFreshGuards(saved, fresh.plan);
  const { patience: timeout } = deps.service;
  const plan =
    timeout === undefined ? chosen : { ...chosen, steps: chosen.steps.map((step) => ({ ...step, timeout })) };
  report.plan(plan);
  // 5. A person, --auto-approve or a saved plan approves.
  if (!(await approve(plan))) return undefined;
  const approvedAt = deps.clock.now();
  const { durations } = deps.journal.state;
  report.begin?.(plan.steps, (step) => expectedTime(step, deps.service.profile, durations));
  // 6. Run each step as soon as the steps before it are done, and wait until every operation has ended.
  const listed = saved === undefined ? fresh.listed : withoutNamesakes(fresh);
  const steps = await applyPlan({ ...fresh, plan, listed }, deps);
  // 7. Look again: the second plan must be empty.
  const outcome = await verified(steps);
  report.outcome(outcome);
  return outcome;

  async function again(wanted: Goal): Promise<Planned> {
    // Entries that this apply has carried out are not looked at again.
    const planned = await look({ ...wanted, manifest: { ...wanted.manifest, imports: [] } });
    await rememberOthers(planned, deps);
    report.second?.(planned.plan);
    return planned;
  }

  function timed(outcome: Outcome): Outcome {
    const elapsed = deps.clock.now() - approvedAt;
    return { ...outcome, elapsed, ...(resumed.found === 0 ? {} : { resumed: resumed.found }) };
  }

  async function verified(done: readonly StepOutcome[]): Promise<Outcome> {
    try {
      const { warnings } = report;
      return timed(await verify(done, { goal, look: again, deps, saved, warnings }));
    } catch (error) {
      // The steps are done nevertheless.
      const unverified = outcomeOf(done, [], deps.journal.state.outputs, report.warnings());
      report.outcome(timed({ ...unverified, exitCode: exitCodes.error }));
      throw error;
    }
  }
}

/**
 * A saved plan with guards that a plan made now puts on the same addresses: on deletions of what is in use or may be, on creates in doubt, and on objects
 * to bind that have appeared since. If any object is another one by now, what is in doubt or relies on a blocked change is held back too.
 */
export function withFreshGuards(saved: Plan, fresh: Plan): Plan {
  const now = new Map(fresh.changes.map((change) => [change.address, change]));
  const all = fresh.changes.flatMap(({ blocked }) => blocked);
  const isAnyAnother = all.some(({ code }) => code === "another-object");
  const found = (change: Change, action: string): readonly Guard[] => {
    const ofTwins = twinIn(change.address) === undefined ? [] : ["on-replace", "protect"];
    const ofDeletions = action === "delete" || action === "replace" ? ["in-use", ...ofTwins] : [];
    return [
      ...(isAnyAnother ? guardsOfOthers(change) : []),
      ...change.blocked.filter(({ code }) => ["create-in-doubt", ...ofDeletions].includes(code)),
      ...(action === "create" ? adoptionGuards(change) : []),
    ];
  };
  const held = <T extends Pick<Change, "address" | "blocked">>(entry: T, action: string): T => {
    const change = now.get(entry.address);
    const known = new Set(entry.blocked.map(({ code }) => code));
    const more = change === undefined ? [] : found(change, action).filter(({ code }) => !known.has(code));
    return { ...entry, blocked: [...entry.blocked, ...more] };
  };
  return {
    ...saved,
    changes: saved.changes.map((change) => held(change, change.action)),
    steps: saved.steps.map((step) => held(step, step.operation)),
  };
}

/** The guards of an object that is another one by now, and of what may rely on it. */
function guardsOfOthers({ blocked }: Change): readonly Guard[] {
  const codes = ["another-object", "in-doubt", "depends-on-blocked"];
  return blocked.filter(({ code }) => codes.includes(code));
}

function adoptionGuards({ action, id, blocked, mayBe }: Change): readonly Guard[] {
  // The last look before its create makes the step stale.
  if (mayBe?.is === "named") return [];
  if (action !== "adopt") return blocked.filter((guard) => guard.code === "may-exist");
  const message = `${id} has appeared under this name since this plan was made`;
  return [{ code: "may-exist", message, lift: "make a new plan" }];
}

/** The lists without the objects of declared names: the last look before a create takes these as having appeared since the plan. */
function withoutNamesakes({ listed, plan }: Pick<Planned, "listed" | "plan">): Planned["listed"] {
  const named = new Set(plan.changes.flatMap(({ mayBe }) => (mayBe?.is === "named" ? mayBe.ids : [])));
  return new Map([...listed].map(([key, ids]) => [key, new Set([...ids].filter((id) => !named.has(id)))]));
}

export interface Drift {
  readonly report: DriftReport;
  readonly plan: Plan;
}

/** Reports drift from fresh observation, and writes nothing. `layers` are the files of the manifest. */
export async function driftFor(
  goal: Goal & { readonly layers: readonly Layer[]; readonly withUnmanaged: boolean },
  state: StateDocument,
  deps: PlanningDependencies,
): Promise<Drift> {
  const { manifest, layers, withUnmanaged } = goal;
  const { plan, bound, observed, unmanaged, unread } = await planFor(
    { ...goal, everywhere: withUnmanaged },
    state,
    deps,
  );
  const report = driftReport({
    plan,
    desired: manifest.desired,
    bound,
    observed,
    unread,
    ...(withUnmanaged ? { unmanaged } : {}),
    kinds: deps.kinds,
    fieldRange: (address, path) => fieldRange(layers, address, path),
  });
  return { report, plan };
}
