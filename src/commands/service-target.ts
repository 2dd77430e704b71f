/** @module Finds the service, the state and the binding for commands that also work without a manifest. */

import { unproven } from "../apply/engine/look-for-missing.ts";
import { loadProfile } from "../hosting/profile/load-profile.ts";
import { kinds } from "../kinds/index.ts";
import { nearest } from "../manifest/problems/nearest.ts";
import type { Clock } from "../model/clock.ts";
import { exitCodes, GraphformError, ManifestError } from "../model/errors.ts";
import type { Kind } from "../model/kind.ts";
import { waysFromAnother } from "../model/object-key.ts";
import type { Live } from "../model/observed.ts";
import type { Service } from "../model/service.ts";
import type { Bound, StateDocument } from "../model/state.ts";
import { lookAtBound } from "../observe/look-at-bound.ts";
import type { ServiceTarget } from "../project/locate-service.ts";
import { openProject } from "../project/project.ts";
import { learnSecretsAtHand } from "../project/session.ts";
import type { Settings } from "../project/settings.ts";
import { escapeText } from "../report/escape.ts";
import type { StateStore } from "../state/store.ts";
import type { ManifestOptions } from "./options.ts";
import type { Terminal } from "./terminal/terminal.ts";

/**
 * Returns the service of the manifest, whose secrets are known from now on. Without a manifest, options, environment and local platform
 * decide. Throws `ManifestError` if a manifest exists, or is named, and cannot be read.
 */
export async function serviceTarget(
  options: ManifestOptions,
  settings: Settings,
  name = "none",
): Promise<ServiceTarget> {
  try {
    const project = await openProject(options, settings);
    await learnSecretsAtHand(project, settings);
    return { header: project.header, profile: project.profile, folder: project.folder };
  } catch (error) {
    if (options.file.length > 0 || !isMissing(error)) throw error;
    return {
      header: { name, state: {} },
      profile: await loadProfile(options.profile ?? "default"),
      folder: ".",
    };
  }
}

/** True if the only problem is that there is no manifest. */
function isMissing(error: unknown): boolean {
  return error instanceof ManifestError && error.problems.every((problem) => problem.code === "missing-file");
}

/**
 * The state as it will be after `state push`, where a local file fits the stored one, so that what stands in that file alone is
 * not planned once more; a plan that is saved from it cannot be applied before. Says so, or that a file is not counted in.
 */
export async function latestState(store: StateStore, terminal: Terminal): Promise<StateDocument | undefined> {
  const found = await store.unpushed?.();
  if (found === undefined) return store.read();
  const { refusal, state } = found;
  const counted =
    state === undefined ? "this does not count it in" : "this counts it in, and nothing is changed before";
  terminal.err(`warning: ${escapeText(`${refusal.message}; ${counted}; ${refusal.hint ?? ""}`, 4000)}\n`);
  return state ?? store.read();
}

/** The binding of an address; with `kind` only one of that kind. Throws `not-bound` with the nearest address. */
export function boundAt(state: StateDocument, address: string, kind?: string): Bound {
  const found = Object.hasOwn(state.resources, address) ? state.resources[address] : undefined;
  if (found !== undefined && (kind === undefined || found.kind === kind)) return found;
  const known = Object.entries(state.resources)
    .filter(([, bound]) => kind === undefined || bound.kind === kind)
    .map(([name]) => name);
  const close = nearest(address, known);
  const noun = kinds.find(kind ?? "")?.noun ?? "resource";
  const hint =
    close === undefined
      ? known.length === 0
        ? "nothing was applied or imported yet"
        : `graphform state list shows what there is: ${known.slice(0, 5).join(", ")}${known.length > 5 ? ", ..." : ""}`
      : `did you mean ${close}?`;
  throw new GraphformError("not-bound", `the state of ${state.name} has no ${noun} at ${address}`, { hint });
}

/** A service, its clock and a signal that ends the looks. */
interface Look {
  readonly service: Service;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * The object bound to an address, looked for until it is shown, proved absent, or in doubt. Throws `gone`, `not-shown` within its creation
 * grace period, `absence-unproven`, and `another-object`.
 */
export async function liveAt(
  state: StateDocument,
  address: string,
  { service, clock, signal }: Look,
): Promise<Live> {
  const bound = boundAt(state, address);
  const { kind, id, place } = bound;
  const entry = { address, kind, ref: { id, place } };
  const readers = new Map(kinds.all.map((each) => [each.name, each.reader(service)]));
  const context = { kinds, readers, state, clock, profile: service.profile, signal };
  const { lives, missing } = await lookAtBound([entry], context);
  const live = lives.get(entry);
  if (live !== undefined) return live;
  const verdict = missing.get(entry) ?? { is: "gone" };
  switch (verdict.is) {
    case "in-doubt":
      throw unproven({ ...entry, createdAt: Date.parse(bound.createdAt) }, verdict.because);
    case "another":
      throw new GraphformError("another-object", verdict.because, {
        exitCode: exitCodes.stale,
        hint: waysFromAnother(address, id),
      });
    case "hidden":
      throw new GraphformError("not-shown", `the service does not show ${address} (${id}) yet`, {
        hint: "it was created moments ago: run the command again",
      });
    case "gone":
      throw new GraphformError("gone", `${address} (${id}) is gone: it was deleted outside graphform`, {
        hint: "graphform plan shows what to do about it",
      });
  }
}

/** The kind with this name. Throws `kind-unknown`. */
export function kindNamed(name: string): Kind {
  const kind = kinds.find(name);
  if (kind !== undefined) return kind;
  throw new GraphformError("kind-unknown", `there is no kind "${name}"`, {
    hint: `kinds are ${kinds.all.map((candidate) => candidate.name).join(", ")}`,
  });
}
