/** @module Opens the runs of commands: Ctrl-C ends their waits, and warnings and requests go to the terminal. */
import { loadProfile } from "../hosting/profile/load-profile.ts";
import { systemClock } from "../model/clock.ts";
import { exitCodes, GraphformError, isGraphformError, isManifestError } from "../model/errors.ts";
import type { StateDocument } from "../model/state.ts";
import { limitedClock } from "../model/time-limit.ts";
import { connect } from "../project/connect-service.ts";
import { locateService, type ServiceTarget } from "../project/locate-service.ts";
import {
  latestState,
  learnSecretsAtHand,
  type OpenRunRequest,
  openRun,
  type Run,
  type RunListener,
} from "../project/open-run.ts";
import { openProject, type Project, type Resolved, type RunOptions } from "../project/project.ts";
import type { Settings } from "../project/settings.ts";
import { escapeText } from "../report/typeset.ts";
import type { StateStore } from "../state/store.ts";
import { type Interrupts, listenForInterrupts } from "./terminal/listen-for-interrupts.ts";
import { printFewWarnings } from "./terminal/print-problems.ts";
import type { Terminal } from "./terminal/terminal.ts";

export interface ManifestOptions extends RunOptions {
  /** Ms. */
  readonly lockTimeout?: number;
  readonly log?: string;
  readonly trace?: boolean;
  /** For commands with --json. */
  readonly json?: boolean;
}

/** The parsed options of a command line, and what its command works with. */
export interface Invocation<O = ManifestOptions> {
  readonly options: O;
  readonly settings: Settings;
  readonly terminal: Terminal;
  /** Folders of --chdir; several only for commands that take several. */
  readonly folders?: readonly string[];
}

/** An invocation of a command that has options of its own beside those of a manifest. */
export type InvocationWith<Own> = Invocation<ManifestOptions & Own>;

/** A run as a command wants it. */
interface WantedRun<R extends Partial<Resolved>>
  extends Pick<OpenRunRequest<R>, "reading" | "creates" | "acceptState" | "claim"> {
  /** True for a plan: it first lets databases take writes again that a cutover has left. */
  readonly repairs?: boolean;
  /** A project that is open already. */
  readonly project?: Project;
  /** Name of the operation in the lock; without it nothing is written. */
  readonly lock?: string;
  /** Receives warnings about the lock; the default prints them. */
  readonly warn?: (message: string) => void;
}

/** Runs `work` in a run of its own. Rejects with `interrupted` (exit 130) after a signal, and as `openRun` does. */
export async function withRun<R extends Partial<Resolved>, T>(
  { options, settings, terminal }: Invocation,
  { lock: operation, warn = lockWarning(terminal), repairs, ...wanted }: WantedRun<R>,
  work: (run: Run & R, interrupts: Interrupts) => Promise<T>,
): Promise<T> {
  const project = wanted.project ?? (await openProject(options, settings));
  const timeout = options.lockTimeout ?? 0;
  // Read before signals are listened to: until then Ctrl-C ends the process, even if a store does not answer.
  const state = operation === undefined ? await latestStateOf(project.store, terminal) : undefined;
  const notice =
    operation === undefined
      ? ""
      : "\ninterrupted: accepted requests continue at the service; press Ctrl-C again to stop at once\n";
  return interruptible(notice, terminal, (interrupts) => {
    const listener = runListener(options, terminal);
    const { stopping: signal, hurrying } = interrupts;
    const lock = operation === undefined ? {} : { lock: { operation, timeout, warn, hurrying } };
    const repairing = repairs === true ? { repairs: warn } : {};
    const request = { ...wanted, ...lock, ...repairing, project, options, settings, listener, state, signal };
    return openRun(request, (run) => work(run, interrupts));
  });
}

/** The parts of a service that a command uses without a state. */
export type OpenService = Pick<Run, "service" | "identity" | "signal" | "clock">;

/** Runs `work` with the service of a target, or of the command line. Rejects with `interrupted` (exit 130) after a signal. */
export async function withService<T>(
  invocation: Invocation,
  work: (open: OpenService) => Promise<T>,
  target?: ServiceTarget,
): Promise<T> {
  const { options, settings, terminal } = invocation;
  const location = await locateService(target ?? (await serviceTarget(invocation)), options, settings);
  return interruptible("", terminal, async ({ stopping: signal }) => {
    const { request } = runListener(options, terminal);
    const service = await connect(location, options, settings, request);
    const clock = limitedClock(systemClock, options.timeout);
    return work({ service, identity: location.identity, signal, clock }).finally(() => service.close());
  });
}

/** The service of the manifest, whose secrets are known from now on, or without one that of the settings. Throws `ManifestError`. */
export async function serviceTarget(
  { options, settings }: Pick<Invocation, "options" | "settings">,
  name = "none",
): Promise<ServiceTarget> {
  try {
    const project = await openProject(options, settings);
    await learnSecretsAtHand(project, settings);
    return project;
  } catch (error) {
    const isNone = isManifestError(error) && error.problems.every(({ code }) => code === "missing-file");
    if (options.file.length > 0 || !isNone) throw error;
    const profile = await loadProfile(options.profile ?? "default");
    return { header: { name, state: {} }, profile, folder: "." };
  }
}

/** Runs `work` with the signals of Ctrl-C. Prints `notice` at the first one, and rejects with `interrupted` (exit 130) then. */
async function interruptible<T>(
  notice: string,
  { err }: Pick<Terminal, "err">,
  work: (interrupts: Interrupts) => Promise<T>,
): Promise<T> {
  const interrupts = listenForInterrupts(() => err(notice));
  try {
    return await work(interrupts);
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

/** The latest state of a store; prints a warning if a local file has events that the store lacks. */
export function latestStateOf(store: StateStore, { err }: Terminal): Promise<StateDocument | undefined> {
  return latestState(store, ({ message, hint }, counted) => {
    const isCounted = counted !== undefined;
    const what = isCounted ? "this counts it in, and nothing is changed before" : "this does not count it in";
    err(`warning: ${escapeText(`${message}; ${what}; ${hint ?? ""}`, 4000)}\n`);
  });
}

/** Prints the first warnings of a run; requests go to standard error with --trace, and to the file of --log. */
export function runListener({ trace }: Pick<ManifestOptions, "trace">, terminal: Terminal): RunListener {
  return {
    warnings: (warnings) => printFewWarnings(warnings, terminal),
    request(request) {
      if (trace === true) terminal.err(`${request}\n`);
      terminal.log?.(JSON.stringify({ "@timestamp": new Date().toISOString(), type: "request", request }));
    },
  };
}

/** A function that prints a warning about a lock on standard error, which has no result in it. */
export function lockWarning({ err }: Pick<Terminal, "err">): (message: string) => void {
  return (message) => err(`Warning: ${escapeText(message)}\n`);
}
