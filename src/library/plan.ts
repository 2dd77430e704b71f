/** @module Plans a manifest from a program, saves plans, and reads saved ones. */
import { kinds } from "../kinds/index.ts";
import type { Plan } from "../model/plan.ts";
import { savePlan } from "../project/saved-plan.ts";
import { planningWorld } from "../project/worlds.ts";
import { assertAddressesKnown, planFor } from "../reconcile/plan-for.ts";
import { emptyState } from "../state/document.ts";
import { readPlanFile } from "../state/plan-file.ts";
import { projects, services } from "./handles.ts";
import type { PlanRequest } from "./plan-request.ts";
import { resolveRequest } from "./resolve-request.ts";

/** Input of `plan`. */
export interface PlanOnlyRequest extends PlanRequest {
  /** File that the plan is saved to, for `apply` or the command line. */
  readonly out?: string;
}

/**
 * Compares the manifest with the service and returns the changes that `apply` would make. Writes nothing but `out`. Throws
 * `ManifestError`, `ServiceError`, and `GraphformError` with a code and a hint.
 */
export async function plan(request: PlanOnlyRequest): Promise<Plan> {
  const { manifest, service, state, out, signal = new AbortController().signal } = request;
  const stored = (await state.read()) ?? emptyState(manifest.name);
  // A state that was never written has no key yet, and a plan must not create one.
  const key = stored.serial === 0 ? undefined : stored.key;
  const { goal, vault, state: owned, identity } = await resolveRequest(request, stored, { key }, signal);
  assertAddressesKnown(goal, owned, kinds);
  const world = planningWorld(services.get(service).connection, signal, { open: vault.open });
  const { plan: made } = await planFor(goal, owned, world);
  if (out !== undefined) {
    const { targets: target, ...options } = goal.options;
    const choices = { ...options, target, ...(goal.probing === false ? { probe: false } : {}) };
    const session = { identity, vault };
    const run = { project: projects.get(manifest), session, options: choices, commit: undefined };
    const writer = { waiting: () => undefined, print: () => undefined, signal };
    await savePlan(out, made, { ...run, destroying: goal.destroying }, writer);
  }
  return made;
}

/** Reads a saved plan. Throws `plan-unreadable`, `plan-foreign` and their like for a file that is none. */
export async function readPlan(file: string): Promise<Plan> {
  return (await readPlanFile(file)).plan;
}
