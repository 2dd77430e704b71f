/** @module Opens a run: resolves the manifest, connects to the service and claims the state. */

import { secretReader, secretsAtHand } from "../manifest/read-secret.ts";
import type { SecretText } from "../manifest/secrets.ts";
import { type Clock, systemClock } from "../model/clock.ts";
import type { Desired } from "../model/desired.ts";
import type { Manifest } from "../model/manifest.ts";
import type { Problem } from "../model/problem.ts";
import type { Vault } from "../model/sealed.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { loginsIn } from "../model/userinfo.ts";
import { claimState } from "../state/claim-state.ts";
import type { Lock } from "../state/store.ts";
import { type Connection, connect } from "./connect.ts";
import { locateService, type ServiceLocation } from "./locate-service.ts";
import { type Project, resolveProject, secretsOf, type VaultKey } from "./project.ts";
import type { RunOptions } from "./run-options.ts";
import type { Settings } from "./settings.ts";
import { assertSubscribed, withSubscriptions } from "./subscriptions.ts";

/** A resolved manifest with its secrets, service and state. */
export interface Session {
  readonly manifest: Manifest;
  readonly vault: Vault;
  readonly service: Connection;
  readonly identity: ServiceIdentity;
  /** The state, claimed for this service. */
  readonly state: StateDocument;
  readonly clock: Clock;
}

/** Receives warnings and requests of a run. */
export interface RunListener {
  readonly warnings: (warnings: readonly Problem[]) => void;
  /** One line for each request, without secrets. */
  readonly request: (line: string) => void;
}

/**
 * Resolves the manifest, learns its secrets, and creates the client. Secrets are sealed with the key of
 * the state, or with that of `sealing`. Throws `state-service` if the state belongs to another service, and `no-subscription`
 * if a declared resource needs one; nothing was written to the service then.
 */
export async function openSession(
  project: Project,
  {
    state,
    sealing = state,
    isDestroying = false,
    assertPlannedHere = () => undefined,
    signal = new AbortController().signal,
  }: SessionStart,
  options: RunOptions,
  settings: Settings,
  listener: RunListener,
  secrets: SecretText = secretReader(settings.environment()),
): Promise<Session> {
  const { manifest, vault } = await resolveProject(project, sealing, secrets);
  learnSecrets(project, vault, settings);
  listener.warnings(manifest.warnings);
  const location = await locateService(project, options, settings);
  const claim = { service: location.identity, manifest: project.identity, where: project.store.where };
  const claimed = claimState(state, claim);
  assertPlannedHere(location.identity);
  const service = await connect(location, options, settings, systemClock, listener.request);
  try {
    const desired = isDestroying ? [] : manifest.desired;
    const owned = await withOwner(claimed, desired, { location, service, project }, signal);
    assertPlannedHere(owned.identity);
    return { manifest, vault, clock: systemClock, service, ...owned };
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** A connected service, and the manifest that its state is for. */
interface Owner {
  readonly location: Pick<ServiceLocation, "identity">;
  readonly service: Connection;
  readonly project: Pick<Project, "identity"> & { readonly store: Pick<Project["store"], "where"> };
}

/** Claims the state for the service and its subscriptions. Throws `state-service`, `no-subscription`. */
export async function withOwner(
  state: StateDocument,
  desired: readonly Desired[],
  { location, service, project }: Owner,
  signal: AbortSignal,
): Promise<Pick<Session, "identity" | "state">> {
  const identity = await withSubscriptions(location.identity, service, signal, desired);
  assertSubscribed(desired, identity, service);
  const claim = { service: identity, manifest: project.identity, where: project.store.where };
  return { identity, state: claimState(state, claim) };
}

/** The state at the start of a session, and the purpose of the session. */
interface SessionStart {
  readonly state: StateDocument;
  readonly sealing?: VaultKey;
  /** True if the run creates nothing. */
  readonly isDestroying?: boolean;
  /** Throws where a saved plan was made for another service; called before anything is sent, and once all of it is known. */
  readonly assertPlannedHere?: (identity: ServiceIdentity) => void;
  readonly signal?: AbortSignal;
}

/**
 * Returns the result of the work. Rejects where the lock was lost or the store went away meanwhile, even if the work
 * succeeded; the error says what became of what could not be stored.
 */
export async function whileHeld<T>(lock: Lock, work: () => Promise<T>): Promise<T> {
  try {
    const [result] = await Promise.allSettled([work()]);
    await lock.settle();
    if (result.status === "rejected") throw result.reason;
    return result.value;
  } finally {
    await lock.release();
  }
}

/** Adds the secrets that a run has sealed, and the logins in addresses anywhere in its manifest and its variables. */
export function learnSecrets(
  { parsed, variables }: Pick<Project, "parsed" | "variables">,
  vault: Vault,
  { secrets }: Settings,
): void {
  secrets.add([...vault.texts(), ...loginsIn(parsed.value ?? null), ...loginsIn({ ...variables })]);
}

/** Adds every secret that can be read without running a command, for work that needs none: a service may repeat one. */
export async function learnSecretsAtHand(
  project: Pick<Project, "parsed" | "profile" | "variables">,
  settings: Settings,
): Promise<void> {
  learnSecrets(project, await secretsOf(project, secretsAtHand(settings.environment())), settings);
}
