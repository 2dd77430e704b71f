/** @module Plans a manifest from a program. */
import { kinds } from "../kinds/index.ts";
import type { Plan } from "../model/plan.ts";
import { planningWorld } from "../project/worlds.ts";
import { assertAddressesKnown, planFor } from "../reconcile/plan-for.ts";
import { emptyState } from "../state/document.ts";
import { services } from "./handles.ts";
import type { PlanRequest } from "./plan-request.ts";
import { resolveRequest } from "./resolve-request.ts";

/**
 * Compares the manifest with the service and returns the changes that `apply` would make. Writes nothing. Throws
 * `ManifestError`, `ServiceError`, and `GraphformError` with a code and a hint.
 */
export async function plan(request: PlanRequest): Promise<Plan> {
  const { manifest, service, state, signal = new AbortController().signal } = request;
  const stored = (await state.read()) ?? emptyState(manifest.name);
  // A state that was never written has no key yet, and a plan must not create one.
  const key = stored.serial === 0 ? undefined : stored.key;
  const { goal, vault, state: owned } = await resolveRequest(request, stored, { key }, signal);
  assertAddressesKnown(goal, owned, kinds);
  const world = planningWorld(services.get(service).connection, signal, { open: vault.open });
  return (await planFor(goal, owned, world)).plan;
}
