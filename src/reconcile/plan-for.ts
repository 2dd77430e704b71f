/** @module Makes a plan: observes the service and the state, compares them with the manifest, and writes nothing. */
import { openCreatesInDoubt } from "../apply/creates/recover-intents.ts";
import { boundImport, unmatchedRemoval } from "../manifest/bindings.ts";
import { nearest, suggest } from "../manifest/problems/fault.ts";
import { type Address, parseAddress, twinIn, twinOf, withoutTwin } from "../model/address.ts";
import type { Clock } from "../model/clock.ts";
import type { Desired } from "../model/desired.ts";
import { GraphformError, ManifestError, type Problem, shellWord } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import type { KindRegistry, Reader } from "../model/kind.ts";
import type { Manifest, Removal } from "../model/manifest.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Guard, Plan, PlanOptions } from "../model/plan.ts";
import { notAskedFor } from "../model/probe.ts";
import { firstOf } from "../model/quantity.ts";
import type { Open } from "../model/sealed.ts";
import type { Reads } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";
import type { CopyOf, StateDocument } from "../model/state.ts";
import { knownValues } from "../model/templates.ts";
import { limitedClock } from "../model/time-limit.ts";
import { type Observation, observe } from "../observe/observe.ts";
import { countReads, type OnRead, type Unread, unreadable } from "../observe/observe-context.ts";
import { describeTenants } from "../observe/unmanaged.ts";
import { addressesOfRemoval, type KnownAddresses, resolveAddressOptions } from "../plan/address-options.ts";
import { findByName } from "../plan/adoption-candidates.ts";
import { withDeclaredGuards } from "../plan/guards/plan-guards.ts";
import { destroys } from "../plan/guards/protection.ts";
import { makePlan } from "../plan/make-plan.ts";
import { afterMoves } from "../plan/moves.ts";
import { type PlanInput, targetsOf } from "../plan/subjects.ts";

/** The dependencies of planning: only the reading half of the service. */
export interface PlanningDependencies {
  readonly kinds: KindRegistry;
  readonly service: Reads;
  readonly clock: Clock;
  readonly digest: (text: string) => string;
  readonly signal: AbortSignal;
  /** Opens the secrets of the run: running databases are asked as their declared users. Without it none is asked. */
  readonly open?: Open;
  /** Files of the manifest that the state remembers and this run was not given. */
  readonly notGiven?: PlanInput["notGiven"];
  /** Open creates in doubt, if the run has looked for their objects. Otherwise one look decides. */
  readonly createsInDoubt?: PlanInput["createsInDoubt"];
  /** Asks a running database for the reasons against moving its data, or a copy for those against emptying or deleting it. Without it the plan names none. */
  readonly foresee?:
    | ((
        ...of: [ref: Ref, live: Live, spec: Spec, reader: Reader, signal: AbortSignal, copyOf?: CopyOf]
      ) => Promise<readonly Guard[]>)
    | undefined;
  /** Called with each answer to a read while a plan is made. */
  readonly onRead?: OnRead | undefined;
}

export interface Goal {
  readonly manifest: Manifest;
  readonly options: PlanOptions;
  /** ISO 8601: the newest of the manifest's files. */
  readonly timestamp: string;
  /** True for `destroy`. */
  readonly destroying: boolean;
  /** False for `--no-probe`: no running database is asked. Default: true. */
  readonly probing?: boolean;
  /** True if resources that cannot be read are left out, and the rest is planned. Default: everything that the options do not leave out must be read. */
  readonly skipsUnread?: boolean;
  /** True if places that nothing declared or bound names are listed too. */
  readonly everywhere?: boolean;
}

export interface Planned extends Pick<Observation, "observed" | "doubts" | "unmanaged" | "listed"> {
  readonly plan: Plan;
  /** Binding of each address, moves carried out. */
  readonly bound: StateDocument["resources"];
  /** Objects and lists that could not be read and were left out. */
  readonly unread: readonly Pick<Unread, "address" | "reason">[];
  readonly outputs: ReadonlyMap<Address, JsonObject>;
}

/** Makes a plan from fresh observation. Writes nothing, neither at the service nor in the state. */
export async function planFor(
  goal: Goal,
  state: StateDocument,
  given: PlanningDependencies,
): Promise<Planned> {
  const deps = { ...given, clock: limitedClock(given.clock, given.service.patience) };
  const { manifest, options, destroying, probing = true, skipsUnread = false, everywhere = false } = goal;
  const { kinds, service, signal, open } = deps;
  const desired = destroying ? [] : manifest.desired;
  const bound = Object.keys(state.resources).length;
  const { counting, onWait } = countReads(bound, deps.onRead);
  const readers = new Map(kinds.all.map(({ name, reader }) => [name, counting(reader(service))]));
  const movedState = afterMoves(state, manifest.moved, kinds);
  const context = {
    kinds,
    readers,
    state: movedState,
    clock: deps.clock,
    profile: service.profile,
    signal,
    open,
    unread: new Map(),
    onWait,
    everywhere,
    unasked: probing || open === undefined ? undefined : notAskedFor,
  };
  const seen = await observe(desired, context);
  const known = { declared: desired.map(({ address }) => address), bound: Object.keys(movedState.resources) };
  const isLeftOut = leftOutBy(desired, resolveAddressOptions(options, known).options);
  // A list, and an object that no address is bound to, concern every address.
  const isNeeded = ({ address }: Pick<Unread, "address">): boolean =>
    movedState.resources[address] === undefined || !isLeftOut(address);
  const needed = seen.unread.filter(isNeeded);
  if (!skipsUnread && needed.length > 0) throw unreadable(needed);
  const { listed, doubts } = seen;
  const unread = [
    ...needed.filter(({ address }) => address !== ""),
    ...[...(skipsUnread ? doubts : [])]
      .map(([address, { because }]) => ({ address, reason: because }))
      .filter(isNeeded),
  ];
  const looking = { kinds, clock: deps.clock, profile: service.profile, stopping: signal };
  const { observed, unmanaged } = findByName(seen, { desired, state: movedState, kinds });
  const createsInDoubt = given.createsInDoubt ?? (await openCreatesInDoubt(state, readers, looking));
  const imports = destroying ? [] : manifest.imports;
  const faults = importFaults(imports, movedState, { createsInDoubt, kinds, unmanaged: seen.unmanaged });
  if (faults.length > 0) throw new ManifestError(faults);
  const input: PlanInput = {
    name: manifest.name,
    timestamp: [goal.timestamp, state.savedAt].sort().at(-1) ?? goal.timestamp,
    desired,
    state: withDeclaredGuards(state, { ...manifest, desired: destroying ? manifest.desired : [], kinds }),
    remembered: state.resources,
    observed,
    doubts,
    createsInDoubt,
    ...defined({ notGiven: given.notGiven }),
    ...(open === undefined ? {} : { notProbed: seen.notProbed }),
    partialLists: seen.partialLists,
    unmanaged,
    kinds,
    profile: service.profile,
    guards: manifest.guards,
    moved: manifest.moved,
    removed: destroying
      ? manifest.removed
      : manifest.removed.map((entry) => withNear(entry, manifest.removed, known)),
    outputs: manifest.outputs,
    options: leavingOut(unread, options, movedState),
    destroying,
    now: deps.clock.now(),
    digest: deps.digest,
  };
  const found = makePlan(input);
  const immovable = await foreseen(found, seen, movedState, { ...given, probing });
  const outputs = new Map([...observed].map(([address, live]) => [address, live.outputs]));
  const going = found.changes.filter((change) => destroys(change) && change.blocked.length === 0);
  const tenants = await describeTenants(new Set(going.map(({ kind }) => kind)), outputs, context);
  const isFinal = immovable.size + tenants.length === 0;
  const plan = isFinal ? found : makePlan({ ...input, immovable, tenants: [...unmanaged, ...tenants] });
  return { plan, outputs, bound: movedState.resources, observed, doubts, unmanaged, unread, listed };
}

/**
 * The problems of entries of `imports` that would be passed over: another object is bound to the address, or may be by its open create. An
 * entry whose object is no longer there was carried out before that one was replaced.
 */
function importFaults(
  imports: Manifest["imports"],
  { resources, intents }: StateDocument,
  { createsInDoubt, kinds, unmanaged }: Pick<PlanInput, "createsInDoubt" | "kinds" | "unmanaged">,
): readonly Problem[] {
  return imports.flatMap((entry): readonly Problem[] => {
    const { address, id } = entry;
    const bound = resources[address];
    if (bound === undefined)
      return Object.hasOwn(intents, address) && createsInDoubt?.has(address) !== true
        ? [boundImport(entry, undefined)]
        : [];
    const { kind, place } = bound;
    const wanted = kinds.named(kind).idAt(place, id);
    const isWanted = (other: { readonly kind: string; readonly id: string }): boolean =>
      other.kind === kind && other.id === wanted;
    const isElsewhere = Object.entries(resources).some(
      ([other, object]) => withoutTwin(other) !== address && isWanted(object),
    );
    return wanted !== bound.id && (isElsewhere || unmanaged.some(isWanted))
      ? [boundImport(entry, bound.id)]
      : [];
  });
}

/** The reasons against moving data, and, asked for without probing too, against deleting a new database, or changing the old one, if the new one may be in use. */
async function foreseen(
  { changes }: Plan,
  { observed }: Pick<Planned, "observed">,
  { migrations = {}, resources }: Pick<StateDocument, "migrations" | "resources">,
  { foresee, kinds, service, open, signal, probing }: PlanningDependencies & { readonly probing: boolean },
): Promise<ReadonlyMap<Address, readonly Guard[]>> {
  const found = new Map<Address, readonly Guard[]>();
  for (const { address, action, kind } of changes) {
    const main = withoutTwin(address);
    const isLeaving = twinIn(address) === "next" && destroys({ action }) && kinds.named(kind).holdsData;
    const isBefore = migrations[address] !== undefined && migrations[address].heldUntil === undefined;
    const moves = action === "migrate" && probing;
    const next = moves || (action === "update" && isBefore) ? [twinOf(address, "next")] : [];
    const asked = moves || isLeaving ? [address, ...next] : next;
    const reasons = asked.map(async (at): Promise<readonly Guard[]> => {
      const [bound, live] = [resources[at], observed.get(at)];
      if (live === undefined || foresee === undefined || open === undefined || bound === undefined) return [];
      if (!(isLeaving ? ["ready", "stopped", "pending"] : ["ready"]).includes(live.phase.is)) return [];
      const spec = knownValues(bound.recorded, open, (other) => observed.get(other)?.outputs);
      const mark = defined({ mark: migrations[main]?.mark });
      const copyOf = at === main ? undefined : { id: resources[main]?.id ?? main, isLeaving, ...mark };
      return foresee(bound, live, spec, kinds.named(kind).reader(service), signal, copyOf);
    });
    found.set(address, (await Promise.all(reasons)).flat());
  }
  return new Map([...found].filter(([, reasons]) => reasons.length > 0));
}

/** Tells which addresses these options leave out. What a target refers to is planned with it, and a twin with its address. */
function leftOutBy(desired: readonly Desired[], options: PlanOptions): (address: Address) => boolean {
  const targets = targetsOf({ desired, options });
  const isOut = (named: Address): boolean => options.exclude.includes(named) || targets?.has(named) === false;
  return (address) => isOut(withoutTwin(address));
}

/** The options, with --exclude for each resource that could not be read. */
function leavingOut(
  unread: Planned["unread"],
  options: PlanOptions,
  { resources }: Pick<StateDocument, "resources">,
): PlanOptions {
  const found = unread.map(({ address }) => address).filter((address) => resources[address] !== undefined);
  return found.length === 0 ? options : { ...options, exclude: [...options.exclude, ...found] };
}

/** Throws `address-unknown` if an option names an address that neither the manifest nor the state knows, and `ManifestError` for such an entry of `removed`. */
export function assertAddressesKnown(
  { manifest, options, destroying }: Goal,
  state: StateDocument,
  kinds: KindRegistry,
): void {
  const declared = manifest.desired.map(({ address }) => address);
  const bound = Object.keys({ ...state.intents, ...afterMoves(state, manifest.moved, kinds).resources });
  const { unknown, options: resolved } = resolveAddressOptions(options, { declared, bound });
  const [first] = unknown;
  if (first !== undefined) {
    const { option, pattern, candidates } = first;
    const what = option === "--replace" || option === "--cutover" ? "is not declared" : "names nothing";
    throw new GraphformError("address-unknown", `${option} ${shellWord(pattern)} ${what}`, {
      hint: suggest(pattern, candidates, "known"),
    });
  }
  const { removed } = manifest;
  const lost = removed.flatMap((entry) => removalFaults(entry, removed, { declared, bound }));
  if (lost.length > 0 && !destroying) throw new ManifestError(lost);
  if (destroying && options.replace.length > 0)
    throw new GraphformError("option-unfit", "--replace means nothing to destroy", { hint: "leave it out" });
  const isLeftOut = leftOutBy(manifest.desired, resolved);
  for (const option of ["replace", "cutover"] as const) {
    const passedOver = resolved[option]?.find(isLeftOut);
    if (passedOver === undefined) continue;
    const message = `--${option} ${shellWord(passedOver)} means nothing: --target or --exclude leaves it out`;
    const hint = `leave it out, or add --target ${shellWord(passedOver)}`;
    throw new GraphformError("option-unfit", message, { hint });
  }
}

/** The problem of an entry of `removed` that names nothing, while nothing declares or names others of its block: they would be deleted. */
function removalFaults(entry: Removal, all: readonly Removal[], known: KnownAddresses): readonly Problem[] {
  const [block = ""] = entry.address.split("[");
  const meant = deletedBeside(entry, all, known).filter(
    (other) => other === block || other.startsWith(`${block}[`),
  );
  return meant.length === 0 ? [] : [unmatchedRemoval(entry, firstOf(meant, 5))];
}

/** The entry with the block that it may mean. An entry that was carried out stays in the file, so that a name alone proves no mistake. */
function withNear(entry: Removal, all: readonly Removal[], known: KnownAddresses): Removal {
  const wanted = parseAddress(entry.address);
  const others = deletedBeside(entry, all, known).flatMap((other) => parseAddress(other) ?? []);
  const names = others.filter(({ section }) => section === wanted?.section).map(({ name }) => name);
  const near = nearest(wanted?.name ?? "", [...new Set(names)]);
  return { ...entry, ...defined({ near: near && `${wanted?.section}.${near}` }) };
}

/** The addresses that would be deleted, if an entry of `removed` that is to let go names nothing; none if it names something. */
function deletedBeside(entry: Removal, all: readonly Removal[], known: KnownAddresses): readonly Address[] {
  const { destroy, lifecycle } = entry;
  // One with a lifecycle is a block that is left out, under its own address.
  if (destroy || lifecycle !== undefined) return [];
  const bound = new Set(known.bound);
  const named = (each: Removal): readonly Address[] =>
    addressesOfRemoval(each, known).filter((other) => bound.has(other));
  if (named(entry).length > 0) return [];
  const kept = new Set([...known.declared, ...all.flatMap(named)]);
  return known.bound.filter((other) => !kept.has(other) && withoutTwin(other) === other);
}
