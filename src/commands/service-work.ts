import { systemClock } from "../model/clock.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import { type Connection, connect } from "../project/connect.ts";
import { locateService } from "../project/locate-service.ts";
import { openProject, type Project } from "../project/project.ts";
import type { ServiceTarget } from "../project/service-target.ts";
import { listenForInterrupts } from "./listen-for-interrupts.ts";
import { maskSecrets } from "./mask-secrets.ts";
import type { ManifestOptions } from "./options.ts";
import { traceOf } from "./request-trace.ts";
import type { Terminal } from "./terminal.ts";
import { interrupted } from "./under-lock.ts";

/** What a command works with that talks to the service and leaves the state alone. */
export interface ServiceWork<P extends ServiceTarget = Project> {
  readonly project: P;
  readonly service: Connection;
  /** Which service it is. */
  readonly identity: ServiceIdentity;
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
}

/**
 * Runs `work` with the service of the manifest; secrets are read to be masked. Rejects with `interrupted` (exit 130) on a
 * signal.
 */
export async function withService<T>(
  options: ManifestOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
  work: (with_: ServiceWork) => Promise<T>,
): Promise<T> {
  const project = await openProject(options);
  const { foreign: hide } = await maskSecrets(project, env, terminal);
  return withServiceOf({ ...project, hide }, options, env, terminal, work);
}

/** The same for a project that is there already, or for what stands in for one where there is no manifest. */
export async function withServiceOf<T, P extends ServiceTarget>(
  project: P,
  options: ManifestOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
  work: (with_: ServiceWork<P>) => Promise<T>,
): Promise<T> {
  const location = await locateService(project, options, env);
  const interrupts = listenForInterrupts(() => terminal.err("\ninterrupted\n"));
  const trace = traceOf(options, terminal);
  const service = await connect(location, options, env, systemClock, trace);
  try {
    return await work({ project, service, identity: location.identity, signal: interrupts.stopping });
  } catch (error) {
    throw interrupts.stopping.aborted ? interrupted() : error;
  } finally {
    interrupts.release();
    await service.close();
  }
}
