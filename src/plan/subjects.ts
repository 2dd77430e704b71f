/** @module Defines what a plan is made of, and lists the addresses that it is about, with everything known of each. */
import { type Address, twinOf, withoutTwin } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { type FieldSchema, fieldRows, powerOf } from "../model/field-schema.ts";
import { defined, type Json, type JsonObject } from "../model/json.ts";
import type { KindRegistry } from "../model/kind.ts";
import type { Manifest } from "../model/manifest.ts";
import { type Doubt, type Observed, objectKey, type Unmanaged } from "../model/observed.ts";
import { perObject } from "../model/once.ts";
import type { Census, Change, CreateDoubt, FieldChange, Guard, PlanOptions } from "../model/plan.ts";
import type { Profile } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";
import type { Bound, Intent, StateDocument } from "../model/state.ts";
import { referencedIn } from "../model/templates.ts";
import { specOf } from "../model/values.ts";
import { withProbed } from "./diff.ts";
import { afterMoves, destinations } from "./moves.ts";

export interface Subjects {
  readonly chosen: ReadonlyMap<Address, Subject>;
  readonly leftOut: readonly Subject[];
}

/** Every address that is declared or bound, or whose create is in doubt: chosen if it is targeted and not excluded. */
export function subjectsOf(input: PlanInput): Subjects {
  const previous = new Map([...destinations(input.state, input.moved)].map(([from, to]) => [to, from]));
  const desired = new Map(input.desired.map((entry): [Address, Desired] => [entry.address, entry]));
  const bound = new Map(Object.entries(afterMoves(input.state, input.moved, input.kinds).resources));
  const inDoubt = input.createsInDoubt?.keys() ?? [];
  const known = [...new Set([...desired.keys(), ...bound.keys(), ...inDoubt])];
  const excluded = excludedOf(bound, input);
  const targets = targetsOf(input);
  const isNamed = (address: Address): boolean => !excluded.has(address) && targets?.has(address) !== false;
  // A twin is planned with the object whose data moves.
  const owners = new Map(
    [...(input.migrating ?? [])].flatMap(([address, inside]) =>
      inside.map((each): [Address, Address] => [twinOf(each, "next"), address]),
    ),
  );
  const isChosen = (address: Address): boolean => isNamed(owners.get(address) ?? withoutTwin(address));
  const at = (address: Address): Subject => {
    const [declared, binding] = [desired.get(address), bound.get(address)];
    const observed = input.observed.get(address);
    const intent = input.state.intents[address];
    return {
      address,
      kind: declared?.kind ?? binding?.kind ?? input.state.rounds[intent?.round ?? ""]?.kind ?? "",
      ...defined({ previousAddress: previous.get(address), desired: declared, bound: binding }),
      ...defined({ intent, doubt: input.doubts?.get(address) }),
      ...defined({ observed: observed && current(observed, declared, binding, input) }),
    };
  };
  return {
    chosen: new Map(known.filter(isChosen).map((address) => [address, at(address)])),
    leftOut: [...bound.keys()].filter((address) => !isChosen(address)).map(at),
  };
}

/** Addresses that a bound object refers to now, from its shown and its remembered values. */
export function heldBy({ kind, bound, observed }: Subject, kinds: KindRegistry): readonly Address[] {
  const seen = observed === undefined ? [] : referencedIn(kinds.find(kind)?.schema, specOf(observed));
  return [...new Set([...(bound?.refs ?? []), ...seen.map(({ address }) => address)])];
}

function current(
  observed: Observed,
  desired: Desired | undefined,
  bound: Bound | undefined,
  input: PlanInput,
): Observed {
  const finished = whenFinished(observed, bound, input);
  if (desired === undefined) return finished;
  const { schema } = input.kinds.named(observed.kind);
  const outputsOf = (address: Address): JsonObject | undefined => input.observed.get(address)?.outputs;
  return withProbed(finished, desired.spec, outputsOf, fieldRows(schema));
}

/** An observed object after the operation in progress: sent values replace shown ones, and a field that operations change has the value that it leads to. */
function whenFinished(observed: Observed, bound: Bound | undefined, { kinds, profile }: PlanInput): Observed {
  const schema = kinds.find(observed.kind)?.schema;
  if (observed.phase.is !== "pending" || schema === undefined) return observed;
  const spec = { ...observed.spec };
  for (const [path, value] of Object.entries(bound?.converging?.record ?? {})) {
    spec[path] = { value, source: spec[path]?.source ?? "recorded" };
  }
  for (const [path, row] of fieldRows(schema)) {
    if (row["x-operations"] === undefined) continue;
    const value = destination(row, bound?.converging?.operation, profile) ?? bound?.recorded[path];
    if (value === undefined) delete spec[path];
    else spec[path] = { value, source: "recorded" };
  }
  return { ...observed, spec };
}

/** The value of a field after an operation; undefined if the operation does not change it. */
function destination(row: FieldSchema, operation: string | undefined, profile: Profile): Json | undefined {
  if (operation === "create" || (operation === "update" && profile.updateNeeds === "ready"))
    return row.default;
  const transition = Object.entries(row["x-operations"] ?? {}).find(([, verb]) => verb === operation);
  return transition?.[0].split(">")[1];
}

/** The targets and everything that they refer to; undefined if nothing was targeted. */
export function targetsOf({
  desired,
  options,
}: Pick<PlanInput, "desired" | "options">): ReadonlySet<Address> | undefined {
  if (options.targets.length === 0) return undefined;
  const refs = new Map(desired.map((entry) => [entry.address, entry.refs]));
  const chosen = new Set(options.targets);
  for (const address of chosen) for (const ref of refs.get(address) ?? []) chosen.add(ref);
  return chosen;
}

/** Excluded addresses, with the dependents of those that do not exist yet. */
function excludedOf(
  bound: ReadonlyMap<Address, Bound>,
  { desired, options }: PlanInput,
): ReadonlySet<Address> {
  const references = desired.flatMap(({ address, refs }) => refs.map((ref) => ({ ref, address })));
  const dependents = Map.groupBy(references, ({ ref }) => ref);
  const excluded = new Set(options.exclude);
  for (const address of excluded) {
    if (bound.has(address)) continue;
    for (const dependent of dependents.get(address) ?? []) excluded.add(dependent.address);
  }
  return excluded;
}

export interface Subject {
  readonly address: Address;
  readonly previousAddress?: Address;
  readonly kind: string;
  readonly desired?: Desired;
  readonly bound?: Bound;
  /** The create of an earlier run that is still open. */
  readonly intent?: Intent;
  /** Absent if nothing is bound, or if the bound object is gone or in doubt. */
  readonly observed?: Observed;
  /** Why nothing that is bound can be relied on. */
  readonly doubt?: Doubt;
}

export function base(
  subject: Subject,
): Pick<Change, "address" | "kind" | "blocked" | "drift"> & Partial<Change> {
  const refs = subject.desired?.refs ?? subject.bound?.refs ?? [];
  return {
    address: subject.address,
    kind: subject.kind,
    blocked: [],
    drift: [],
    ...defined({ previousAddress: subject.previousAddress, where: subject.desired?.where() }),
    ...(refs.length === 0 ? {} : { refs }),
    ...defined({ id: (subject.observed ?? subject.bound)?.id, phase: subject.observed?.phase }),
    ...(hasVanished(subject) ? { gone: true as const, before: subject.bound?.recorded ?? {} } : {}),
  };
}

/** True if the bound object was proved absent, and graphform did not ask for its deletion. */
export function hasVanished({ bound, observed, doubt }: Subject): boolean {
  const isMissing = bound !== undefined && observed === undefined && doubt === undefined;
  return isMissing && bound.converging?.operation !== "delete";
}

/** True if the object is stopped, or stopping by an operation of ours. */
export function isStopped({ kind, observed, bound }: Subject, { kinds }: Pick<PlanInput, "kinds">): boolean {
  if (observed?.phase.is !== "pending") return observed?.phase.is === "stopped";
  const verb = powerOf(kinds.named(kind).schema)?.["running>stopped"];
  return verb !== undefined && bound?.converging?.operation === verb;
}

type Importing = Pick<PlanInput, "desired" | "observed">;

/** The other address that asks for the subject's object by its id. */
export function importerOf({ address, kind, observed }: Subject, input: Importing): Desired | undefined {
  if (observed === undefined) return undefined;
  const importers = importersIn(input);
  const found = [...importers(objectKey(kind, observed)), ...importers(unseenKey(kind, observed.id))];
  return found.find((entry) => entry.address !== address);
}

/** Made once for each plan: every address asks. */
const importersIn = perObject(({ desired, observed }: Importing): ((key: string) => readonly Desired[]) => {
  const importing = desired.flatMap((entry): readonly (readonly [string, Desired])[] => {
    const { address, kind, importId } = entry;
    if (importId === undefined) return [];
    const seen = observed.get(address);
    return [[seen === undefined ? unseenKey(kind, importId) : objectKey(kind, seen), entry]];
  });
  const groups = Map.groupBy(importing, ([key]) => key);
  return (key) => (groups.get(key) ?? []).map(([, entry]) => entry);
});

/** The key of an object that was not looked at: only its id is known. */
function unseenKey(kind: string, id: string): string {
  return `${kind} ? ${id}`;
}

function ownerMarkOf({ address, kind }: Subject, { kinds, state }: PlanInput): Spec {
  return kinds.named(kind).ownerMark({ lineage: state.lineage, address: withoutTwin(address) });
}

/** The mark that an object should show: ours, if it carried ours before. Empty if the service shows no marks or cannot set them. */
export function markToKeep(subject: Subject, input: PlanInput): Spec {
  const { bound, observed } = subject;
  const operation = input.kinds.named(subject.kind).operations.mark ?? "";
  if (bound === undefined || observed?.owner === undefined) return {};
  if (input.profile.operations[operation] === undefined) return {};
  const mark = ownerMarkOf(subject, input);
  const wasOurs =
    observed.owner?.lineage === input.state.lineage ||
    Object.keys(mark).some((path) => Object.hasOwn(bound.recorded, path));
  return wasOurs ? mark : {};
}

/** The reason of a change whose fields all belong to the mark; undefined for any other change. */
export function whyMarked(
  fields: readonly FieldChange[],
  subject: Subject,
  input: PlanInput,
): string | undefined {
  const { bound } = subject;
  const mark = ownerMarkOf(subject, input);
  if (fields.length === 0 || fields.some(({ path }) => !Object.hasOwn(mark, path))) return undefined;
  const isMoved = fields.every(
    ({ path, before }) => before !== undefined && (bound?.recorded[path] ?? before) === before,
  );
  return isMoved
    ? "the tags that graphform keeps on it follow its address"
    : "the tags that graphform keeps on it were removed or altered outside";
}

/** Everything that a plan is made of; the same input gives the same plan, byte for byte. */
export interface PlanInput
  extends Pick<Manifest, "name" | "desired" | "guards" | "moved" | "removed" | "outputs">,
    Pick<Census, "notProbed" | "partialLists"> {
  readonly timestamp: string;
  readonly state: StateDocument;
  /** The entries of the stored state; `state` also contains the guards that `destroy` adds. */
  readonly remembered: StateDocument["resources"];
  /** The observed object of every bound address, and of every object to adopt. */
  readonly observed: ReadonlyMap<Address, Observed>;
  /** Bound addresses whose objects may be gone, or are others by now. Default: none. */
  readonly doubts?: ReadonlyMap<Address, Doubt>;
  /** Open creates of earlier runs that may or may not have made an object. Default: none. */
  readonly createsInDoubt?: ReadonlyMap<Address, CreateDoubt>;
  readonly unmanaged: readonly Unmanaged[];
  /** Those that may stand on what the plan deletes, described. Default: those that are described anyway. */
  readonly tenants?: readonly Unmanaged[];
  /** Files of the manifest that the state remembers and this run was not given. Default: none. */
  readonly notGiven?: readonly string[];
  readonly kinds: KindRegistry;
  readonly profile: Profile;
  readonly options: PlanOptions;
  /** True for `destroy`: an empty manifest is meant. */
  readonly destroying: boolean;
  /** Ms since 1970, by which the time is over for which old databases are held. Absent: none is over. */
  readonly now?: number;
  /** Addresses whose data moves to a new object, each with the addresses that live inside. Set by `withTwins`. */
  readonly migrating?: ReadonlyMap<Address, readonly Address[]>;
  /** The reasons against moving the data of these, as the databases themselves have shown them. Default: none. */
  readonly immovable?: ReadonlyMap<Address, readonly Guard[]>;
  readonly digest: (text: string) => string;
}
