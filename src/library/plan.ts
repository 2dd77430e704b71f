/** @module Plans from a program. */
import { kinds } from "../kinds/index.ts";
import { systemClock } from "../model/clock.ts";
import type { Plan } from "../model/plan.ts";
import { sha256 } from "../project/session.ts";
import { assertAddressesKnown, planFor } from "../reconcile/plan-for.ts";
import { emptyState } from "../state/document.ts";
import { services } from "./behind.ts";
import { opened } from "./opened.ts";
import type { PlanRequest } from "./plan-request.ts";

/**
 * Looks at the service and says what `apply` would do. Writes nothing anywhere. Throws `ManifestError`, `ServiceError`, and
 * `GraphformError` with a code and a way out.
 */
export async function plan(request: PlanRequest): Promise<Plan> {
  const { manifest, service, state, signal = new AbortController().signal } = request;
  const stored = (await state.read()) ?? emptyState(manifest.name);
  // A state that was never written has no key yet, and a plan must not bring one along.
  const key = stored.serial === 0 ? undefined : stored.key;
  const { intention, state: owned } = await opened(request, stored, { key }, signal);
  assertAddressesKnown(intention, owned, kinds);
  const world = {
    kinds,
    service: services.of(service).connection,
    clock: systemClock,
    digest: sha256,
    signal,
  };
  return (await planFor(intention, owned, world)).plan;
}
