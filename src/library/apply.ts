/** @module Applies a manifest from a program. */

import { systemClock } from "../model/clock.ts";
import { defined } from "../model/json.ts";
import type { ApplyEvent, Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import { assertApplicable, assertPlannedHere, assertSecretsKept } from "../project/saved-plan.ts";
import { whileHeld } from "../project/session.ts";
import { applyWorld } from "../project/worlds.ts";
import { reconcile } from "../reconcile/reconcile.ts";
import { recordOwner } from "../state/claim-state.ts";
import { emptyState } from "../state/document.ts";
import { readPlanFile } from "../state/plan-file.ts";
import { withSeals } from "../state/vault.ts";
import { projects, services, stores } from "./handles.ts";
import type { PlanRequest } from "./plan-request.ts";
import { resolveRequest } from "./resolve-request.ts";

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
  const { manifest, service, state, approve, lockTimeout = 0 } = request;
  const { signal = new AbortController().signal } = request;
  const saved = request.planFile === undefined ? undefined : await readPlanFile(request.planFile);
  const wanted = { ...request, destroying: request.destroying === true || saved?.destroying === true };
  const operation = wanted.destroying ? "destroy" : "apply";
  const lock = await stores.get(state).lock(operation, {
    clock: systemClock,
    timeout: lockTimeout,
    signal,
    warn: (message) => request.onEvent?.({ type: "warning", message }),
  });
  return whileHeld(lock, async () => {
    const stored = (await state.read()) ?? emptyState(manifest.name);
    if (saved !== undefined) assertApplicable(saved, projects.get(manifest), stored);
    const { goal, vault, state: owned, identity } = await resolveRequest(wanted, stored, stored, signal);
    if (saved !== undefined) assertPlannedHere(saved, identity);
    const sealed = saved === undefined ? undefined : withSeals(saved.plan, vault);
    if (sealed !== undefined) assertSecretsKept(sealed, vault.open);
    const { connection } = services.get(service);
    const warnings: string[] = [];
    const world = applyWorld({
      service: { ...connection, ...defined({ patience: request.timeout }) },
      store: stores.get(state),
      state: owned,
      lock,
      stopping: signal,
      open: vault.open,
      emit(event) {
        if (event.type === "warning") warnings.push(event.message);
        request.onEvent?.(event);
      },
    });
    const run = {
      goal,
      saved: sealed,
      approve: async (plan: Plan) => approve(plan),
    };
    const outcome = await reconcile(run, world, {
      plan: () => {},
      outcome: () => {},
      warnings: () => warnings,
    });
    if (outcome !== undefined) await recordOwner(world.journal, stored);
    return outcome;
  });
}
