/** @module Runs a command that uses the service and does not write the state. */
import { type Clock, systemClock } from "../model/clock.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import { limitedClock } from "../model/time-limit.ts";
import { type Connection, connect } from "../project/connect.ts";
import { locateService, type ServiceTarget } from "../project/locate-service.ts";
import { openProject, type Project } from "../project/project.ts";
import { learnSecretsAtHand } from "../project/session.ts";
import type { Settings } from "../project/settings.ts";
import type { ManifestOptions } from "./options.ts";
import { requestTrace } from "./run-listener.ts";
import { listenForInterrupts } from "./terminal/listen-for-interrupts.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { interrupted } from "./under-lock.ts";

/** Context of a command that uses the service and does not write the state. */
export interface ServiceWork<P extends ServiceTarget = Project> {
  readonly project: P;
  readonly service: Connection;
  /** Identity of the service. */
  readonly identity: ServiceIdentity;
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
  /** Its sleeps end with --timeout. */
  readonly clock: Clock;
}

/**
 * Runs `work` with the service of the manifest, whose secrets are known. Rejects with `interrupted` (exit 130) after a signal.
 */
export async function withService<T>(
  options: ManifestOptions,
  settings: Settings,
  terminal: Terminal,
  work: (context: ServiceWork) => Promise<T>,
): Promise<T> {
  const project = await openProject(options, settings);
  await learnSecretsAtHand(project, settings);
  return withServiceOf(project, options, settings, terminal, work);
}

/** Runs `work` with the service of an open project, or of settings that replace a manifest. */
export async function withServiceOf<T, P extends ServiceTarget>(
  project: P,
  options: ManifestOptions,
  settings: Settings,
  terminal: Terminal,
  work: (context: ServiceWork<P>) => Promise<T>,
): Promise<T> {
  const location = await locateService(project, options, settings);
  const interrupts = listenForInterrupts(() => terminal.err("\ninterrupted\n"));
  const trace = requestTrace(options, terminal);
  const service = await connect(location, options, settings, systemClock, trace);
  try {
    const clock = limitedClock(systemClock, options.timeout);
    const { stopping: signal } = interrupts;
    return await work({ project, service, identity: location.identity, signal, clock });
  } catch (error) {
    throw interrupts.stopping.aborted ? interrupted() : error;
  } finally {
    interrupts.release();
    await service.close();
  }
}
