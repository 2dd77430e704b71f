/** @module Runs a command that changes something outside of a plan, under the lock of the state. */
import { systemClock } from "../model/clock.ts";
import { exitCodes, GraphformError, isGraphformError } from "../model/errors.ts";
import type { ApplyEvent } from "../model/outcome.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { type Connection, connect } from "../project/connect.ts";
import { locateService } from "../project/locate-service.ts";
import { openProject, type Project } from "../project/project.ts";
import { learnSecretsAtHand, whileHeld } from "../project/session.ts";
import type { Settings } from "../project/settings.ts";
import { withSubscriptions } from "../project/subscriptions.ts";
import { applyWorld } from "../project/worlds.ts";
import type { ApplyWorld } from "../reconcile/apply-plan.ts";
import { escapeText } from "../report/escape.ts";
import { claimState } from "../state/claim-state.ts";
import { emptyState } from "../state/document.ts";
import type { ManifestOptions } from "./options.ts";
import { requestTrace } from "./run-listener.ts";
import { listenForInterrupts } from "./terminal/listen-for-interrupts.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Context of a command that has the lock. */
export interface Locked {
  readonly project: Project;
  /** State at the time the lock was taken, claimed for this service. */
  readonly state: StateDocument;
  readonly service: Connection;
  readonly identity: ServiceIdentity;
  readonly world: ApplyWorld;
}

/** Work to do under the lock. */
export interface LockedWork<T> {
  /** Name of the operation in the lock. */
  readonly operation: string;
  readonly emit?: (event: ApplyEvent) => void;
  /** Claims the state for the service; the default refuses the state of another service. */
  readonly claim?: typeof claimState;
  readonly work: (locked: Locked) => Promise<T>;
}

/**
 * Runs `work` under the lock of the state with a connected service. Rejects with `interrupted` (exit 130)
 * after a signal, `lock-lost` if another process took the lock, and `state-service` if the state belongs to another service.
 */
export async function underLock<T>(
  options: ManifestOptions,
  settings: Settings,
  terminal: Terminal,
  lockedWork: LockedWork<T>,
): Promise<T> {
  const project = await openProject(options, settings);
  await learnSecretsAtHand(project, settings);
  return underLockOf(project, options, settings, terminal, lockedWork);
}

/** Runs `work` under the lock for a project that is open already. */
export async function underLockOf<T>(
  project: Project,
  options: ManifestOptions,
  settings: Settings,
  terminal: Terminal,
  { operation, emit, claim = claimState, work }: LockedWork<T>,
): Promise<T> {
  const location = await locateService(project, options, settings);
  const interrupts = listenForInterrupts(() =>
    terminal.err(
      "\ninterrupted: accepted requests continue at the service; press Ctrl-C again to stop at once\n",
    ),
  );
  try {
    const clock = systemClock;
    const timeout = options.lockTimeout ?? 0;
    const { store } = project;
    const told = lockWarning(terminal);
    const warn = emit === undefined ? told : (message: string) => emit({ type: "warning", message });
    const lock = await store.lock(operation, { clock, timeout, signal: interrupts.stopping, warn });
    return await whileHeld(lock, async () => {
      const stored = (await store.read()) ?? emptyState(project.header.name);
      const mine = { manifest: project.identity, where: store.where };
      const claimed = claim(stored, { service: location.identity, ...mine });
      const service = await connect(location, options, settings, clock, requestTrace(options, terminal));
      try {
        const identity = await withSubscriptions(location.identity, service, interrupts.stopping);
        const state = claim(claimed, { service: identity, ...mine });
        const { stopping, aborting } = interrupts;
        const events = emit === undefined ? {} : { emit };
        const world = applyWorld({ service, store, state, lock, stopping, aborting, ...events, clock });
        return await work({ project, state, service, identity, world });
      } finally {
        await service.close();
      }
    });
  } catch (error) {
    throw interruptedOr(error, interrupts.stopping);
  } finally {
    interrupts.release();
  }
}

/** Creates the error of a run that a signal ended (exit 130). */
export function interrupted(): GraphformError {
  return new GraphformError("interrupted", "interrupted", {
    exitCode: exitCodes.interrupted,
    hint: "requests that the service accepted continue there",
  });
}

/** The error of a run: `interrupted` after a signal, unless it says what became of what could not be stored. */
export function interruptedOr(error: unknown, stopping: AbortSignal): unknown {
  const isAboutState = isGraphformError(error) && /^(?:state-|lock-lost$)/.test(error.code);
  return stopping.aborted && !isAboutState ? interrupted() : error;
}

/** A function that prints a warning about a lock on standard error, which has no result in it. */
export function lockWarning({ err }: Pick<Terminal, "err">): (message: string) => void {
  return (message) => err(`Warning: ${escapeText(message)}\n`);
}
