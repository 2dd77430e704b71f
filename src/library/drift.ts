/** @module Looks for drift from a program. */
import { kinds } from "../kinds/index.ts";
import type { DriftReport } from "../model/drift.ts";
import { GraphformError } from "../model/errors.ts";
import { planningWorld } from "../project/worlds.ts";
import { assertAddressesKnown } from "../reconcile/plan-for.ts";
import { driftFor } from "../reconcile/reconcile.ts";
import { projects, services } from "./handles.ts";
import type { PlanRequest } from "./plan-request.ts";
import { resolveRequest } from "./resolve-request.ts";

/** Input of `drift`. */
export interface DriftRequest extends Omit<PlanRequest, "destroying" | "replace" | "allowDestroy"> {
  /** True to list objects that nobody declares, too. */
  readonly unmanaged?: boolean;
}

/**
 * Compares the service with the last apply: what was changed outside, and what is declared and not applied yet. Writes nothing. Throws
 * like `plan`, and `state-missing` before the first apply.
 */
export async function drift(request: DriftRequest): Promise<DriftReport> {
  const { manifest, service, state, unmanaged = false, signal = new AbortController().signal } = request;
  const stored = await state.read();
  if (stored === undefined)
    throw new GraphformError(
      "state-missing",
      `there is no state at ${state.where}: nothing to compare with`,
      {
        hint: "apply makes one",
      },
    );
  const { goal, vault, state: owned } = await resolveRequest(request, stored, stored, signal);
  assertAddressesKnown(goal, owned, kinds);
  const world = planningWorld(services.get(service).connection, signal, { open: vault.open });
  const { layers } = projects.get(manifest).parsed;
  const wanted = { ...goal, layers, withUnmanaged: unmanaged, skipsUnread: true };
  return (await driftFor(wanted, owned, world)).report;
}
