/** @module Makes a drift report: plans from fresh observation, and classifies what differs from the last apply. */
import { fieldRange } from "../manifest/field-range.ts";
import type { Layer } from "../manifest/source.ts";
import type { DriftReport } from "../model/drift.ts";
import type { Plan } from "../model/plan.ts";
import type { StateDocument } from "../model/state.ts";
import { driftReport } from "../plan/drift/drift-report.ts";
import { type Goal, type PlanningWorld, planFor } from "./plan-for.ts";

/** A drift report, and the plan that it was made from. */
export interface Drift {
  readonly report: DriftReport;
  readonly plan: Plan;
}

/**
 * Reports drift from fresh observation. `layers` are the files of the manifest; `withUnmanaged` lists objects that nobody
 * declares. Writes nothing, neither at the service nor in the state.
 */
export async function driftFor(
  goal: Goal & { readonly layers: readonly Layer[]; readonly withUnmanaged: boolean },
  state: StateDocument,
  world: PlanningWorld,
): Promise<Drift> {
  const { manifest, layers, withUnmanaged } = goal;
  const { plan, bound, observed, unmanaged, unread } = await planFor(goal, state, world);
  const report = driftReport({
    plan,
    desired: manifest.desired,
    bound,
    observed,
    unread,
    ...(withUnmanaged ? { unmanaged } : {}),
    kinds: world.kinds,
    fieldRange: (address, path) => fieldRange(layers, address, path),
  });
  return { report, plan };
}
