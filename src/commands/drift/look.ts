/** @module Looks at the service for `drift`, and compares what it shows with the last apply. */
import { kinds } from "../../kinds/index.ts";
import { secretReader } from "../../manifest/read-secret.ts";
import type { SecretText } from "../../manifest/secrets.ts";
import { GraphformError } from "../../model/errors.ts";
import type { OnRead } from "../../observe/context.ts";
import type { Project } from "../../project/project.ts";
import { openSession, type Session } from "../../project/session.ts";
import type { Settings } from "../../project/settings.ts";
import { planningWorld } from "../../project/worlds.ts";
import { assertAddressesKnown } from "../../reconcile/plan-for.ts";
import { type Drift, driftFor } from "../../reconcile/reconcile.ts";
import { runListener } from "../run-listener.ts";
import { latestState } from "../service-target.ts";
import { listenForInterrupts } from "../terminal/listen-for-interrupts.ts";
import { openLiveView } from "../terminal/live-view.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { interrupted } from "../under-lock.ts";
import { type DriftOptions, planOptionsOf } from "./reports.ts";

/** Everything that an observed drift was made from. */
export interface Looked {
  readonly project: Project;
  readonly session: Session;
  readonly secrets: SecretText;
  readonly drift: Drift;
  readonly signal: AbortSignal;
}

/**
 * Opens the state and the service of a manifest, compares, and does `work` while the service is connected. Throws
 * `state-missing` where nothing is known of a last apply. Takes no lock, and writes nothing.
 */
export async function withDrift<T>(
  project: Project,
  options: DriftOptions,
  settings: Settings,
  terminal: Terminal,
  work: (looked: Looked) => Promise<T>,
): Promise<T> {
  const state = await latestState(project.store, terminal);
  if (state === undefined) throw noState(project);
  const interrupts = listenForInterrupts(() => {});
  try {
    const secrets = rememberedSecrets(secretReader(settings.environment()));
    const listener = runListener(options, terminal);
    const session = await openSession(project, { state }, options, settings, listener, secrets);
    try {
      const signal = interrupts.stopping;
      const view = await openLiveView(terminal, options.json !== true);
      view?.reading(0, 0);
      const drift = await observeDrift(project, session, options, signal, view?.reading).finally(view?.clear);
      return await work({ project, session, secrets, drift, signal });
    } finally {
      await session.service.close();
    }
  } catch (error) {
    throw interrupts.stopping.aborted ? interrupted() : error;
  } finally {
    interrupts.release();
  }
}

/** Looks at the service and compares. Throws `address-unknown` where an option names an address that nothing has. */
export async function observeDrift(
  { parsed, timestamp }: Pick<Project, "parsed" | "timestamp">,
  session: Session,
  options: DriftOptions,
  signal: AbortSignal,
  onRead?: OnRead,
): Promise<Drift> {
  const goal = {
    manifest: session.manifest,
    options: planOptionsOf(options),
    timestamp,
    destroying: false,
    layers: parsed.layers,
    withUnmanaged: options.unmanaged === true,
    probing: options.probe !== false,
    // An adoption is proven by a plan of everything.
    skipsUnread: options.adopt.length === 0,
  };
  assertAddressesKnown(goal, session.state, kinds);
  const { service, clock, vault } = session;
  const world = planningWorld(service, signal, { clock, open: vault.open });
  return driftFor(goal, session.state, { ...world, onRead });
}

/** Without a state nothing is known of the last apply: that is no proof that nothing has changed. */
function noState({ store }: Project): GraphformError {
  return new GraphformError("state-missing", `there is no state at ${store.where}: nothing to compare with`, {
    hint: "graphform apply makes one; --state names another location",
  });
}

/** Reads each secret once, whatever comes of it: a command that prints one may ask a person. */
function rememberedSecrets(read: SecretText): SecretText {
  const known = new Map<string, ReturnType<SecretText>>();
  return (name, source) => {
    const key = JSON.stringify([name, source]);
    const before = known.get(key);
    if (before !== undefined) return before;
    const text = read(name, source);
    known.set(key, text);
    return text;
  };
}
