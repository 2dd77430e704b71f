/** @module Applies from a program. */
import { kinds } from "../kinds/index.ts";
import { systemClock } from "../model/clock.ts";
import type { ApplyEvent, Outcome } from "../model/outcome.ts";
import type { Plan } from "../model/plan.ts";
import { sha256 } from "../project/session.ts";
import { whileHeld } from "../project/while-held.ts";
import type { ApplyWorld } from "../reconcile/apply-plan.ts";
import { reconcile } from "../reconcile/reconcile.ts";
import { emptyState } from "../state/document.ts";
import { openJournal } from "../state/journal.ts";
import { services, stores } from "./behind.ts";
import { opened } from "./opened.ts";
import type { PlanRequest } from "./plan-request.ts";

/** What `apply` is asked for. */
export interface ApplyRequest extends PlanRequest {
  /**
   * Says whether the plan may be carried out. It is made under the lock of the state, so what is approved is what is done:
   * `(fresh) => fresh.fingerprint === shown.fingerprint` carries out the plan that was shown, and no other.
   */
  readonly approve: (plan: Plan) => boolean | Promise<boolean>;
  /** Hears of each step. Messages hold no secrets. */
  readonly onEvent?: (event: ApplyEvent) => void;
  /** Ms to wait for the lock of the state; 0, the default, does not wait. */
  readonly lockTimeout?: number;
  /** Longest wait for one resource in ms; the profile's without it. */
  readonly timeout?: number;
}

/**
 * Plans under the lock of the state, carries the plan out where it is approved, waits until everything has converged, and
 * verifies by a second plan. Undefined where the plan was not approved. The outcome's `exitCode` is that of the command
 * line: 0 where everything is as declared. Throws as `plan` does, and `locked` where somebody else holds the state.
 */
export async function apply(request: ApplyRequest): Promise<Outcome | undefined> {
  const { manifest, service, state, approve, lockTimeout = 0 } = request;
  const { signal = new AbortController().signal } = request;
  const operation = request.destroying === true ? "destroy" : "apply";
  const lock = await stores.of(state).lock(operation, { clock: systemClock, timeout: lockTimeout, signal });
  return whileHeld(lock, async () => {
    const stored = (await state.read()) ?? emptyState(manifest.name);
    const { intention, vault, state: owned } = await opened(request, stored, stored, signal);
    const warnings: string[] = [];
    const world: ApplyWorld = {
      kinds,
      service: services.of(service).connection,
      clock: systemClock,
      digest: sha256,
      journal: openJournal(stores.of(state), owned, systemClock),
      open: vault.open,
      emit(event) {
        if (event.type === "warning") warnings.push(event.message);
        request.onEvent?.(event);
      },
      stopping: AbortSignal.any([signal, lock.lost]),
      aborting: new AbortController().signal,
    };
    const run = {
      intention,
      timeout: request.timeout,
      approve: async (plan: Plan) => approve(plan),
      secrets: vault.texts(),
    };
    return reconcile(run, world, { plan: () => {}, outcome: () => {}, warnings: () => warnings });
  });
}
