/** @module Opens a run: its lock and state, the manifest and its secrets, the service and whose state it is. One order for all commands and programs. */
import type { Client } from "../hosting/service-options.ts";
import { noSecrets, secretReader, secretsAtHand } from "../manifest/read-secret.ts";
import type { SecretText } from "../manifest/secrets.ts";
import { type Clock, systemClock } from "../model/clock.ts";
import { type GraphformError, isGraphformError, type Problem } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { ApplyEvent } from "../model/outcome.ts";
import { filesNotGiven, type ServiceIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { loginsIn } from "../model/userinfo.ts";
import { type ApplyDependencies, repairMigrations } from "../reconcile/apply-plan.ts";
import type { PlanningDependencies } from "../reconcile/plan-for.ts";
import { toRepair } from "../replace/phases.ts";
import { claimState } from "../state/claim-state.ts";
import { emptyState } from "../state/document.ts";
import type { Lock, LockOptions, StateStore, Unpushed } from "../state/store.ts";
import { assertSubscribed, withSubscriptions } from "./add-subscriptions.ts";
import { connect } from "./connect-service.ts";
import { type ApplyParts, applyDependencies, planningDependencies } from "./dependencies.ts";
import { locateService, type ServiceLocation } from "./locate-service.ts";
import { assertUsualFileUnused } from "./locate-state.ts";
import {
  type Project,
  type Resolved,
  type RunOptions,
  resolveProject,
  secretsOf,
  type WrittenProject,
} from "./project.ts";
import type { Settings } from "./settings.ts";

export interface RunListener {
  readonly warnings: (warnings: readonly Problem[]) => void;
  /** One line for each request, without secrets. */
  readonly request: (line: string) => void;
}

/** Says how much of a manifest a run reads: `resolving` or `unresolved`. */
export interface Reading<R> {
  /** Called before anything else. */
  readonly prepare: (project: Project, settings: Settings) => Promise<void>;
  /** Without a key secrets become labels. */
  readonly resolve: (
    ...of: [project: Project, key: string | undefined, settings: Settings, signal: AbortSignal]
  ) => Promise<R>;
}

export interface ReadManifest extends Resolved {
  readonly secrets: SecretText;
}

/** Resolves the manifest and seals all declared secrets, those at hand without a command, or none. Throws `ManifestError`. */
export function resolving(which: "declared" | "at hand" | "none"): Reading<ReadManifest> {
  return {
    prepare: async () => undefined,
    async resolve(project, key, settings, signal) {
      const environment = settings.environment();
      const secrets = {
        declared: () => onceEach(secretReader(environment, undefined, signal)),
        "at hand": () => secretsAtHand(environment),
        none: () => noSecrets,
      }[which]();
      const resolved = await resolveProject(project, key, secrets);
      learnSecrets(project, resolved, settings);
      for (const layer of project.parsed.layers) layer.forget();
      return { ...resolved, secrets };
    },
  };
}

/** Leaves the manifest unresolved: it may be invalid. The service may repeat a secret, so those at hand are read to hide them. */
export const unresolved: Reading<Partial<Resolved>> = {
  prepare: learnSecretsAtHand,
  resolve: async () => ({}),
};

/** Reads each secret once and keeps the result, failures too: a command that prints one may ask a person. */
function onceEach(read: SecretText): SecretText {
  const known = new Map<string, ReturnType<SecretText>>();
  return (name, source) => {
    const key = JSON.stringify([name, source]);
    const text = known.get(key) ?? read(name, source);
    known.set(key, text);
    return text;
  };
}

export interface OpenRunRequest<R extends Partial<Resolved>> {
  readonly project: Project;
  readonly options: Omit<RunOptions, "file" | "var" | "varFile">;
  readonly settings: Settings;
  readonly reading: Reading<R>;
  /** True if the run may create what the manifest declares: it needs a subscription then. */
  readonly creates?: boolean;
  /** Takes this lock and reads the state under it. A run that writes anything needs one. */
  readonly lock?: { readonly operation: string } & Pick<LockOptions, "timeout" | "warn" | "hurrying">;
  /** The state of a run without a lock; undefined before the first apply. */
  readonly state?: StateDocument | undefined;
  /**
   * Gets the warnings of a repair before a run without a lock: databases of an interrupted cutover take writes again. It takes
   * the lock of the state; a run that holds it is in its cutover, and is left alone.
   */
  readonly repairs?: (warning: string) => void;
  /** Called with the state before anything is sent: throws if a saved plan does not fit. */
  readonly acceptState?: (state: StateDocument) => Promise<void>;
  /** Called before anything is sent, and once the subscriptions are known: throws if a saved plan was made for another service. */
  readonly acceptService?: (identity: ServiceIdentity) => void;
  /** Ids of objects that other states bind, and not this one: they are not taken for objects that this one has made. */
  readonly boundElsewhere?: ReadonlySet<string>;
  /** Claims the state for the service; the default refuses the state of another service or manifest. */
  readonly claim?: typeof claimState;
  /** A service that is open already, and stays open. */
  readonly service?: OpenedService;
  readonly listener: RunListener;
  readonly signal: AbortSignal;
}

export interface OpenedService {
  readonly location: ServiceLocation;
  readonly connection: Client;
}

type OwnParts = Pick<ApplyParts, "emit" | "aborting" | "onRead" | "onStatus">;

export interface Run {
  readonly project: Project;
  readonly service: Client;
  readonly identity: ServiceIdentity;
  readonly stored: StateDocument;
  /** The state, claimed for this service and this manifest. */
  readonly state: StateDocument;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The dependencies of planning: they cannot write. */
  readonly planning: PlanningDependencies;
  /** The dependencies of applying. Throws in a run without a lock. */
  readonly applying: (parts?: OwnParts) => ApplyDependencies;
}

/**
 * Opens a run, does the work, and closes the run. The order is a promise: the lock, the state, the checks of a saved plan, the manifest with its
 * secrets; then whose state it is, before anything is sent and again once the subscriptions are known. Throws `locked`, `state-*`, `ManifestError`, `no-service`, `no-credentials`, `no-subscription`, and as `whileHeld` does.
 */
export async function openRun<R extends Partial<Resolved>, T>(
  request: OpenRunRequest<R>,
  work: (run: Run & R) => Promise<T>,
): Promise<T> {
  const { project, settings, reading, signal } = request;
  await reading.prepare(project, settings);
  if (request.lock === undefined) return runWith(request, await repaired(request), undefined, work);
  const { operation, ...options } = request.lock;
  const lock = await project.store.lock(operation, { clock: systemClock, signal, ...options });
  return whileHeld(lock, async () => runWith(request, await project.store.read(), lock, work));
}

/** The state of a run without a lock, after the repair of an interrupted cutover. */
async function repaired<R extends Partial<Resolved>>(
  request: OpenRunRequest<R>,
): Promise<StateDocument | undefined> {
  const { state, repairs: warn } = request;
  if (state === undefined || warn === undefined || toRepair(state).length === 0) return state;
  const emit = (event: ApplyEvent): void => {
    if (event.type === "warning") warn(`${event.address ?? ""}: ${event.message}`);
  };
  const lock = { operation: "repair of a migration", timeout: 0, warn };
  try {
    return await openRun({ ...request, lock, creates: false }, async (run) => {
      const deps = run.applying({ emit });
      await repairMigrations(deps);
      return deps.journal.state;
    });
  } catch (error) {
    if (isGraphformError(error) && error.code === "locked") return state;
    throw error;
  }
}

async function runWith<R extends Partial<Resolved>, T>(
  request: OpenRunRequest<R>,
  found: StateDocument | undefined,
  lock: Lock | undefined,
  work: (run: Run & R) => Promise<T>,
): Promise<T> {
  const { project, options, settings, reading, creates = false, listener, signal, boundElsewhere } = request;
  const { acceptState, acceptService = () => undefined, claim = claimState } = request;
  const clock = systemClock;
  const stored = found ?? emptyState(project.header.name);
  await acceptState?.(stored);
  // A state that was never written has no key yet, and a run without the lock must not create one.
  const key = found === undefined && lock === undefined ? undefined : stored.key;
  const resolved = await reading.resolve(project, key, settings, signal);
  listener.warnings(resolved.manifest?.warnings ?? []);
  const location = request.service?.location ?? (await locateService(project, options, settings));
  const owner = { service: location.identity, manifest: project.identity, where: project.store.where };
  const claimed = claim(stored, owner);
  if (found === undefined && (options.state ?? settings.get("GRAPHFORM_STATE")) === undefined)
    await assertUsualFileUnused(project, (state) => claimState(state, owner));
  acceptService(location.identity);
  const service =
    request.service?.connection ?? (await connect(location, options, settings, listener.request));
  try {
    const desired = creates ? (resolved.manifest?.desired ?? []) : [];
    const identity = await withSubscriptions(location.identity, service, signal, desired);
    assertSubscribed(desired, identity, service);
    const state = claim(claimed, { ...owner, service: identity });
    acceptService(identity);
    const open = resolved.vault?.open;
    const notGiven = filesNotGiven(stored.manifest ?? {}, project.identity);
    const shared = { clock, notGiven, ...defined({ open, boundElsewhere }) };
    const applying = (parts: OwnParts = {}): ApplyDependencies => {
      if (lock === undefined) throw new Error("a run without a lock writes nothing");
      const own = { service, store: project.store, state, lock, stopping: signal };
      return applyDependencies({ ...shared, ...own, ...parts });
    };
    const planning = planningDependencies(service, signal, shared);
    const run: Run = { project, service, identity, stored, state, clock, signal, planning, applying };
    return await work({ ...run, ...resolved });
  } finally {
    if (request.service === undefined) await service.close();
  }
}

/** Rejects if the lock was lost or the store went away, even if the work succeeded; the error names the file with events that were not stored. */
export async function whileHeld<T>(lock: Lock, work: () => Promise<T>): Promise<T> {
  try {
    const [result] = await Promise.allSettled([work()]);
    await lock.finish();
    if (result.status === "rejected") throw result.reason;
    return result.value;
  } finally {
    await lock.release();
  }
}

/**
 * The state as it will be after `state push` if a local file fits the stored one, so that what stands in that file alone is
 * not planned once more. A plan that is saved from it cannot be applied before. `report` gets the refusal of that file.
 */
export async function latestState(
  store: StateStore,
  report: (refusal: GraphformError, state: Unpushed["state"]) => void = () => undefined,
): Promise<StateDocument | undefined> {
  const found = await store.unpushed?.();
  if (found !== undefined) report(found.refusal, found.state);
  return found?.state ?? store.read();
}

/** Adds the secrets that a run has sealed, and the logins in addresses anywhere in its manifest and its variables. */
function learnSecrets(
  { parsed, variables }: Pick<Project, "parsed" | "variables">,
  { vault }: Pick<Resolved, "vault">,
  { secrets }: Settings,
): void {
  secrets.add([...vault.texts(), ...loginsIn(parsed.value ?? null), ...loginsIn({ ...variables })]);
}

/** Adds every secret that can be read without running a command, for work that needs none: a service may repeat one. */
export async function learnSecretsAtHand(project: WrittenProject, settings: Settings): Promise<void> {
  learnSecrets(project, { vault: await secretsOf(project, secretsAtHand(settings.environment())) }, settings);
}
