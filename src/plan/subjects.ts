import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import type { Json } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { Observed } from "../model/observed.ts";
import type { Profile } from "../model/profile.ts";
import { referenceFields } from "../model/reference-fields.ts";
import type { Bound } from "../model/state.ts";
import type { PlanInput } from "./input.ts";
import { afterMoves, destinations } from "./moves.ts";
import type { Subject } from "./subject.ts";
import { type Trait, traitsOf } from "./traits.ts";

/** Every address that the plan has to say something about, with what is known of it. */
export function subjectsOf(input: PlanInput): readonly Subject[] {
  const previous = new Map([...destinations(input.state, input.moved)].map(([from, to]) => [to, from]));
  const desired = new Map(input.desired.map((entry): [Address, Desired] => [entry.address, entry]));
  const bound = new Map(Object.entries(afterMoves(input.state, input.moved, input.kinds).resources));
  const known = [...new Set([...desired.keys(), ...bound.keys()])];
  const excluded = excludedOf(bound, input);
  const targets = targetsOf(input);
  const addresses = known.filter((address) => !excluded.has(address) && targets?.has(address) !== false);
  return addresses.map((address) =>
    subjectAt(address, desired.get(address), bound.get(address), previous.get(address), input),
  );
}

/** Addresses that a subject's object refers to now, by what it shows and by what the state remembers. */
export function heldBy(subject: Subject, kinds: readonly Kind[]): readonly Address[] {
  if (subject.observed === undefined) return [];
  const schema = kinds.find((kind) => kind.name === subject.kind)?.schema;
  const seen = (schema === undefined ? [] : referenceFields(schema)).flatMap((field) => {
    const name = subject.observed?.spec[field.path]?.value;
    return typeof name === "string" ? [`${field.section}.${name}`] : [];
  });
  return [...new Set([...(subject.bound?.refs ?? []), ...seen])];
}

function subjectAt(
  address: Address,
  desired: Desired | undefined,
  bound: Bound | undefined,
  previousAddress: Address | undefined,
  input: PlanInput,
): Subject {
  const observed = input.observed.get(address);
  return {
    address,
    kind: desired?.kind ?? bound?.kind ?? "",
    ...(previousAddress === undefined ? {} : { previousAddress }),
    ...(desired === undefined ? {} : { desired }),
    ...(bound === undefined ? {} : { bound }),
    ...(observed === undefined ? {} : { observed: onceSettled(observed, bound, input) }),
  };
}

/**
 * What is under way is taken for done: values that were sent stand in for those that still show, and a field that
 * verbs reach is where our own verb leads, or where it was last known to be.
 */
function onceSettled(observed: Observed, bound: Bound | undefined, { kinds, profile }: PlanInput): Observed {
  const schema = kinds.find((kind) => kind.name === observed.kind)?.schema;
  if (observed.phase.is !== "pending" || schema === undefined) return observed;
  const spec = { ...observed.spec };
  for (const [path, value] of Object.entries(bound?.converging?.record ?? {})) {
    spec[path] = { value, source: spec[path]?.source ?? "recorded" };
  }
  const verbs = [...traitsOf(schema).values()].filter((trait) => trait.operations !== undefined);
  for (const trait of verbs) {
    const value = destination(trait, bound?.converging?.operation, profile) ?? bound?.recorded[trait.path];
    if (value === undefined) delete spec[trait.path];
    else spec[trait.path] = { value, source: "recorded" };
  }
  return { ...observed, spec };
}

/** Where an operation leads a field that verbs reach; undefined where it leaves the field as it was. */
function destination(trait: Trait, operation: string | undefined, profile: Profile): Json | undefined {
  if (operation === "create" || (operation === "update" && profile.updateNeeds === "ready"))
    return trait.default;
  const transition = Object.entries(trait.operations ?? {}).find(([, verb]) => verb === operation);
  return transition?.[0].split(">")[1];
}

/**
 * The targets and everything that they refer to; undefined where nothing was targeted. --target and --exclude choose
 * what is looked at: they change the input and never filter the output.
 */
function targetsOf({ desired, options }: PlanInput): ReadonlySet<Address> | undefined {
  if (options.targets.length === 0) return undefined;
  const refs = new Map(desired.map((entry) => [entry.address, entry.refs]));
  const chosen = new Set(options.targets);
  for (const address of chosen) for (const ref of refs.get(address) ?? []) chosen.add(ref);
  return chosen;
}

/** What is excluded, and what cannot be had without it: the dependents of what is not there yet. */
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
