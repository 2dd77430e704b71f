import { createHash } from "node:crypto";
import { kinds } from "../kinds/index.ts";
import { secretReader } from "../manifest/read-secret.ts";
import type { SecretText } from "../manifest/secrets.ts";
import type { Clock } from "../model/clock.ts";
import { systemClock } from "../model/clock.ts";
import type { Desired } from "../model/desired.ts";
import type { Manifest } from "../model/manifest.ts";
import { type Masker, maskerOf } from "../model/mask.ts";
import type { Problem } from "../model/problem.ts";
import type { Vault } from "../model/sealed.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import type { PlanningWorld } from "../reconcile/plan-for.ts";
import { claimState } from "../state/claim-state.ts";
import { type Connection, connect } from "./connect.ts";
import { locateService, type ServiceLocation } from "./locate-service.ts";
import { type Project, resolveProject, type VaultKey } from "./project.ts";
import type { RunOptions } from "./run-options.ts";
import { assertSubscribed, withSubscriptions } from "./subscribed.ts";

/** Everything that a command works with once its manifest is resolved. */
export interface Session {
  readonly manifest: Manifest;
  readonly vault: Vault;
  readonly service: Connection;
  readonly identity: ServiceIdentity;
  /** The state as that of this service. */
  readonly state: StateDocument;
  readonly clock: Clock;
}

/** Hears what comes up while a run is opened and while it talks to the service. */
export interface RunListener {
  /** The secrets of the run: nothing that is printed from now on may hold one. */
  readonly secrets: (masker: Masker) => void;
  readonly warnings: (warnings: readonly Problem[]) => void;
  /** One line for each request, without secrets. */
  readonly request: (line: string) => void;
}

/**
 * Resolves the manifest, tells the listener its secrets before anything else, and gets ready to connect. Throws
 * `state-service` where the state belongs to another service, and `no-subscription` where something is declared that needs one;
 * nothing was written at the service then. Secrets are sealed with the state's key, or as `sealing` says.
 */
export async function openSession(
  project: Project,
  { state, sealing = state, isDestroying = false, signal = new AbortController().signal }: Opening,
  options: RunOptions,
  env: NodeJS.ProcessEnv,
  listener: RunListener,
  secrets: SecretText = secretReader(env),
): Promise<Session> {
  const { manifest, vault } = await resolveProject(project, sealing, secrets);
  const masker = maskerOf(vault.texts);
  listener.secrets(masker);
  listener.warnings(manifest.warnings);
  const location = await locateService({ ...project, hide: masker.foreign }, options, env);
  const { where } = project.store;
  const claimed = claimState(state, { service: location.identity, where });
  const service = await connect(location, options, env, systemClock, listener.request);
  try {
    const desired = isDestroying ? [] : manifest.desired;
    const owned = await withOwner(claimed, desired, { location, service, where }, signal);
    return { manifest, vault, clock: systemClock, service, ...owned };
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** A connected service, and where the state is that belongs to it. */
interface Owner {
  readonly location: Pick<ServiceLocation, "identity">;
  readonly service: Connection;
  readonly where: string;
}

/** The state as that of the service, with the subscriptions of what is declared. Throws `state-service` and `no-subscription`. */
export async function withOwner(
  state: StateDocument,
  desired: readonly Desired[],
  { location, service, where }: Owner,
  signal: AbortSignal,
): Promise<Pick<Session, "identity" | "state">> {
  const identity = await withSubscriptions(location.identity, service, signal, desired);
  assertSubscribed(desired, identity, service);
  return { identity, state: claimState(state, { service: identity, where }) };
}

/** The state that a session begins with, and what it is for. */
interface Opening {
  readonly state: StateDocument;
  readonly sealing?: VaultKey;
  /** Nothing will be made. */
  readonly isDestroying?: boolean;
  readonly signal?: AbortSignal;
}

/** What planning is handed: the reading half of the session. */
export function planningWorld(session: Session, signal: AbortSignal): PlanningWorld {
  return { kinds, service: session.service, clock: session.clock, digest: sha256, signal };
}

/** SHA-256 in hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
