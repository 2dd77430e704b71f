/** @module Claims a state for one service and one manifest, and refuses a state that belongs to others, or binds an object twice. */
import { isDeepStrictEqual } from "node:util";
import { withoutTwin } from "../model/address.ts";
import { GraphformError, shellWord } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { Manifest } from "../model/manifest.ts";
import {
  filesNotGiven,
  joined,
  limitedTo,
  localPrefix,
  type ManifestIdentity,
  manifestDifference,
  type ServiceIdentity,
  serviceDifferences,
} from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import type { Journal } from "../model/state-event.ts";
import { reduce } from "./reducer.ts";

export interface Claim {
  readonly service: ServiceIdentity;
  readonly manifest: ManifestIdentity;
  /** The state's path or address, for people. */
  readonly where: string;
}

/**
 * The state as that of a service and a manifest; a state without an owner takes them over with the next write. Throws `state-service`
 * if another service owns it (everything would be created again, and the bound ids forgotten), `state-manifest` if another manifest
 * does (its objects would be changed or deleted), and `state-doubled` if two addresses are bound to one object. Files that were not given
 * stay remembered.
 */
export function claimState(state: StateDocument, { service, manifest, where }: Claim): StateDocument {
  assertEachOnce(state, where);
  if (isEmpty(state)) return recorded(state, service, manifest);
  assertSameManifest(state, manifest, where);
  const known = state.manifest ?? {};
  const missing = filesNotGiven(known, manifest);
  const paths = manifest.paths?.concat(missing) ?? known.paths;
  const mine = { ...(missing.length > 0 && known), ...manifest, ...defined({ paths }) };
  if (state.service === undefined) return recorded(state, service, mine);
  // Tiers in which the state has an object, or an open create.
  const objects = [...Object.values(state.resources), ...Object.values(state.rounds)];
  const tiers = objects.map(({ place }) => place["tier"]).filter((tier) => typeof tier === "string");
  const limited = limitedTo(state.service, new Set(tiers));
  assertSameService(limited, service, `the state ${where}`, remedyFor(limited, service));
  return recorded(state, joined(limited, service), mine);
}

function recorded(state: StateDocument, service: ServiceIdentity, manifest: ManifestIdentity): StateDocument {
  const isKnown = Object.keys(manifest).length > 0;
  return reduce(state, { type: "service-recorded", service, ...(isKnown ? { manifest } : {}) });
}

/**
 * Records the owner of a state at the end of a run: the next one may be another's. Files that were not given are forgotten once the given
 * ones declare everything that is bound.
 */
export async function recordOwner({ state, record }: Journal, run: OwningRun): Promise<void> {
  const { service, serial } = state;
  if (service === undefined || serial === 0) return;
  const declared = new Set(run.manifest.desired.map(({ address }) => address));
  const bound = Object.keys({ ...state.intents, ...state.resources });
  const { identity } = run.project;
  const isWhole = bound.every((address) => declared.has(withoutTwin(address)));
  const manifest = isWhole && identity.paths !== undefined ? identity : state.manifest;
  const written = serial === run.stored.serial ? run.stored : state;
  if (isDeepStrictEqual([service, manifest], [written.service, written.manifest])) return;
  await record({ type: "service-recorded", service, ...(manifest && { manifest }) });
}

/** A run that ends: the state that it began with, and its manifest. */
interface OwningRun {
  readonly stored: StateDocument;
  readonly project: { readonly identity: ManifestIdentity };
  readonly manifest: Pick<Manifest, "desired">;
}

/** Throws `state-service` if two identities are not one service. `owned` names what belongs to the first one, for the message. */
export function assertSameService(
  before: ServiceIdentity,
  now: ServiceIdentity,
  owned: string,
  hint: string,
): void {
  const differences = serviceDifferences(before, now);
  if (differences.length === 0) return;
  const message = `${owned} belongs to another service: ${differences.join("; ")}`;
  throw new GraphformError("state-service", message, { hint });
}

/** Throws `state-manifest` for another manifest's state. Every command that writes one asks, save `state rebind` and `state unlock`. */
export function assertSameManifest(
  state: Pick<StateDocument, "manifest" | "resources" | "intents">,
  now: ManifestIdentity,
  where: string,
): void {
  const difference = isEmpty(state) ? undefined : manifestDifference(state.manifest ?? {}, now);
  if (difference === undefined) return;
  const message = `the state ${where} belongs to another manifest: ${difference}`;
  const hint =
    "give this one a state of its own: another name in the manifest, another place in its state section, or --state; if it has taken the place of the other: graphform state rebind";
  throw new GraphformError("state-manifest", message, { hint });
}

/** True if a state of another name is known to be that of a manifest: the same files were read, and no other environment. */
export function isRenamed(
  { manifest = {} }: Pick<StateDocument, "manifest">,
  now: ManifestIdentity,
): boolean {
  const isKnown = now.paths !== undefined && isDeepStrictEqual(new Set(manifest.paths), new Set(now.paths));
  return isKnown && manifestDifference(manifest, now) === undefined;
}

/** True if a state binds nothing and looks for nothing: it has no owner yet. */
export function isEmpty({ resources, intents }: Pick<StateDocument, "resources" | "intents">): boolean {
  return Object.keys(resources).length === 0 && Object.keys(intents).length === 0;
}

/** Throws `state-doubled` if two addresses are bound to one object, as after an edit by hand. */
function assertEachOnce({ resources }: StateDocument, where: string): void {
  const addresses = new Map<string, string>();
  for (const [address, { kind, id }] of Object.entries(resources)) {
    const key = `${kind} ${id}`;
    const other = addresses.get(key);
    if (other !== undefined) {
      const message = `the state ${where} binds ${id} twice, at ${other} and at ${address}: a change of one changes the other`;
      const hint = `find out which of them it is, and forget the other: graphform state rm ${shellWord(other)}, or graphform state rm ${shellWord(address)}`;
      throw new GraphformError("state-doubled", message, { hint });
    }
    addresses.set(key, address);
  }
}

function remedyFor(recorded: ServiceIdentity, current: ServiceIdentity): string {
  const [wasLocal, isLocal] = [recorded, current].map(({ platform }) => platform.startsWith(localPrefix));
  const other =
    wasLocal && isLocal
      ? "the data folder of the local platform was created again, or is another one: name another state with --state, or move this one away"
      : `${wasLocal ? "start that local platform again" : "use the settings of that service"}, or name another state with --state`;
  return `${other}; if everything is still there: graphform state rebind`;
}
