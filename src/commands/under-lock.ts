import { kinds } from "../kinds/index.ts";
import { systemClock } from "../model/clock.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import type { ApplyEvent } from "../model/outcome.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { type Connection, connect } from "../project/connect.ts";
import { locateService } from "../project/locate-service.ts";
import { openProject, type Project } from "../project/project.ts";
import type { ServiceTarget } from "../project/service-target.ts";
import { sha256 } from "../project/session.ts";
import { withSubscriptions } from "../project/subscribed.ts";
import { whileHeld } from "../project/while-held.ts";
import type { ApplyWorld } from "../reconcile/apply-plan.ts";
import { claimState } from "../state/claim-state.ts";
import { emptyState } from "../state/document.ts";
import { openJournal } from "../state/journal.ts";
import { listenForInterrupts } from "./listen-for-interrupts.ts";
import { maskSecrets } from "./mask-secrets.ts";
import type { ManifestOptions } from "./options.ts";
import { traceOf } from "./request-trace.ts";
import type { Terminal } from "./terminal.ts";

/** What a command works with that changes something outside of a plan. */
export interface Locked {
  readonly project: Project;
  /** As it was when the lock was taken, as the state of this service. */
  readonly state: StateDocument;
  readonly service: Connection;
  readonly identity: ServiceIdentity;
  readonly world: ApplyWorld;
}

/** What is to be done under the lock, and how it is told of. */
export interface LockedWork<T> {
  /** What the lock says that it is held for. */
  readonly operation: string;
  readonly emit?: (event: ApplyEvent) => void;
  /** How the state becomes that of the service; one of another service is refused unless told otherwise. */
  readonly claim?: typeof claimState;
  readonly work: (locked: Locked) => Promise<T>;
}

/**
 * Runs `work` under the lock of the state, with a service to talk to; secrets are read to be masked. Rejects with
 * `interrupted` (exit 130) where the work was cut short by a signal, with `lock-lost` where somebody took the lock away,
 * and with `state-service` where the state belongs to another service.
 */
export async function underLock<T>(
  options: ManifestOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
  what: LockedWork<T>,
): Promise<T> {
  const project = await openProject(options);
  const { foreign: hide } = await maskSecrets(project, env, terminal);
  return underLockOf({ ...project, hide }, options, env, terminal, what);
}

/** The same for a project that is there already. */
export async function underLockOf<T>(
  project: Project & ServiceTarget,
  options: ManifestOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
  { operation, emit = () => {}, claim = claimState, work }: LockedWork<T>,
): Promise<T> {
  const location = await locateService(project, options, env);
  const interrupts = listenForInterrupts(() =>
    terminal.err("\ninterrupted: what is under way goes on at the service (again: stop now)\n"),
  );
  try {
    const clock = systemClock;
    const timeout = options.lockTimeout ?? 0;
    const { store } = project;
    const lock = await store.lock(operation, { clock, timeout, signal: interrupts.stopping });
    return await whileHeld(lock, async () => {
      const stored = (await store.read()) ?? emptyState(project.header.name);
      const { where } = store;
      const claimed = claim(stored, { service: location.identity, where });
      const service = await connect(location, options, env, clock, traceOf(options, terminal));
      try {
        const identity = await withSubscriptions(location.identity, service, interrupts.stopping);
        const state = claim(claimed, { service: identity, where });
        const world: ApplyWorld = {
          kinds,
          service,
          clock,
          digest: sha256,
          journal: openJournal(store, state, clock),
          open: () => undefined,
          emit,
          stopping: AbortSignal.any([interrupts.stopping, lock.lost]),
          aborting: interrupts.aborting,
        };
        return await work({ project, state, service, identity, world });
      } finally {
        await service.close();
      }
    });
  } catch (error) {
    throw interrupts.stopping.aborted ? interrupted() : error;
  } finally {
    interrupts.release();
  }
}

/** The error of a run that a signal cut short. */
export function interrupted(): GraphformError {
  return new GraphformError("interrupted", "interrupted", {
    exitCode: exitCodes.interrupted,
    hint: "what the service had accepted goes on there",
  });
}
