import { kinds } from "../kinds/index.ts";
import { systemClock } from "../model/clock.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import type { ApplyEvent } from "../model/outcome.ts";
import type { StateDocument } from "../model/state.ts";
import type { ApplyWorld } from "../reconcile.ts";
import { emptyState } from "../state/document.ts";
import { openJournal } from "../state/journal.ts";
import { type Connection, connect } from "./connect.ts";
import { listenForInterrupts } from "./interrupt.ts";
import { maskSecrets } from "./mask-secrets.ts";
import type { ManifestOptions } from "./options.ts";
import { openProject, type Project } from "./project.ts";
import { sha256 } from "./session.ts";
import type { Terminal } from "./terminal.ts";
import { traceOf } from "./trace.ts";

/** What a command works with that changes something outside of a plan. */
export interface Locked {
  readonly project: Project;
  /** As it was when the lock was taken. */
  readonly state: StateDocument;
  readonly service: Connection;
  readonly world: ApplyWorld;
}

/**
 * Runs `work` under the lock of the state, with a service to talk to; secrets are read to be masked. Rejects with
 * `interrupted` (exit 130) where the work was cut short by a signal.
 */
export async function underLock<T>(
  operation: string,
  options: ManifestOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
  emit: (event: ApplyEvent) => void,
  work: (locked: Locked) => Promise<T>,
): Promise<T> {
  const project = await openProject(options);
  await maskSecrets(project, env, terminal);
  const interrupts = listenForInterrupts(() =>
    terminal.err("\ninterrupted: what is under way goes on at the service (again: stop now)\n"),
  );
  try {
    const clock = systemClock;
    const timeout = options.lockTimeout ?? 0;
    const lock = await project.store.lock(operation, { clock, timeout, signal: interrupts.stopping });
    const trace = traceOf(options, terminal);
    const service = await connect(project, options, env, clock, trace).catch(async (error: unknown) => {
      await lock.release();
      throw error;
    });
    try {
      const state = (await project.store.read()) ?? emptyState(project.header.name);
      const world: ApplyWorld = {
        kinds,
        service,
        clock,
        digest: sha256,
        journal: openJournal(project.store, state, clock),
        open: () => undefined,
        emit,
        stopping: AbortSignal.any([interrupts.stopping, lock.lost]),
        aborting: interrupts.aborting,
      };
      return await work({ project, state, service, world });
    } finally {
      await service.close();
      await lock.release();
    }
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
