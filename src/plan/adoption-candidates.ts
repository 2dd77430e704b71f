/** @module Finds existing objects that a declared resource could be bound to, by their names. */
import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { fieldRows, rowAt } from "../model/field-schema.ts";
import { defined } from "../model/json.ts";
import { naming } from "../model/manifest.ts";
import { knowsNothing, type Observed, type Unmanaged } from "../model/observed.ts";
import { perObject } from "../model/once.ts";
import type { MayBe } from "../model/plan.ts";
import { fieldsOf, type Spec } from "../model/spec.ts";
import { placeOf } from "../model/templates.ts";
import { sameValue } from "../model/values.ts";
import type { Ahead } from "./outputs.ts";
import type { PlanInput } from "./subjects.ts";

type Compared = Pick<PlanInput, "kinds" | "unmanaged">;

/**
 * Unmanaged objects that may be a declared one: by the mark of its address, else by its name, else, if the state knows nothing and the
 * service shows no names of databases, by create-only values that are all the declared ones.
 */
export function mayBeThere(
  { address, kind, spec }: Pick<Desired, "address" | "kind" | "spec">,
  { kinds, state, unmanaged: all }: Compared & Pick<PlanInput, "state">,
  ahead: Pick<Ahead, "outputs">,
): MayBe | undefined {
  const open = state.intents[address];
  // An apply looks for what an open create may have made, and binds it: only what was there before is another's.
  const before = open && new Set(state.rounds[open.round]?.before);
  const unmanaged = before === undefined ? all : all.filter(({ id }) => before.has(id));
  const namesake = namesakeOf({ kind, spec }, { kinds, unmanaged }, ahead);
  if (namesake !== undefined) return namesake;
  const marked = unmanaged.find((other) => other.kind === kind && other.live?.owner?.address === address);
  if (marked !== undefined) return { is: "marked", ids: [marked.id], count: 1 };
  const found = resembling(kind, spec, { kinds, unmanaged });
  const named = found.filter(({ isNamed }) => isNamed === true);
  if (named.length > 0) return { is: "named", ...firstOf(named) };
  if (!knowsNothing(state) || !kinds.named(kind).holdsData) return undefined;
  // A mark names the owner.
  const alike = found.filter(({ isNamed, other }) => isNamed === undefined && !other.live?.owner);
  return alike.length === 0 ? undefined : { is: "alike", ...firstOf(alike) };
}

/** The object that has the name of a declared one where it is to be, for kinds of which a place has one object of a name. */
export function namesakeOf(
  { kind: section, spec }: Pick<Desired, "kind" | "spec">,
  { kinds, unmanaged }: Compared,
  { outputs }: Pick<Ahead, "outputs">,
): MayBe | undefined {
  const kind = kinds.named(section);
  const place = placeOf(kind, spec, (at) => outputs.get(at));
  const name = place?.[kind.namedBy ?? ""];
  if (place === undefined || typeof name !== "string") return undefined;
  const id = kind.idAt(place, name);
  return idsOf(unmanaged).has(`${section} ${id}`) ? { is: "named", ids: [id], count: 1 } : undefined;
}

const idsOf = perObject(
  (unmanaged: readonly Unmanaged[]) => new Set(unmanaged.map(({ kind, id }) => `${kind} ${id}`)),
);

/** A few of many: a plan of many creates does not list all of them for each. */
function firstOf(found: readonly Resembling[]): Pick<MayBe, "ids" | "count"> {
  return { ids: found.slice(0, 3).map(({ other }) => other.id), count: found.length };
}

interface Resembling {
  readonly other: Unmanaged;
  /** True if it shows the declared name, undefined if the service shows no name. */
  readonly isNamed: boolean | undefined;
}

/** Unmanaged objects of a kind that are not being deleted, and show a create-only value or a name, and no create-only value but the declared ones. */
function resembling(kind: string, spec: Spec, { kinds, unmanaged }: Compared): readonly Resembling[] {
  const rows = fieldRows(kinds.named(kind).schema);
  const declared = fieldsOf(spec);
  return unmanaged.flatMap((other): Resembling[] => {
    if (other.kind !== kind || other.live === undefined || other.live.phase.isLeaving === true) return [];
    const shown = other.live.spec;
    const shared = declared.flatMap(([path, value]) => {
      const seen = shown[path];
      const row = rowAt(rows, path);
      const isCompared = seen !== undefined && row["x-operations"] === undefined;
      return isCompared ? [{ row, isSame: sameValue(value, seen.value, row) }] : [];
    });
    const compared = shared.filter(({ row }) => row["x-create-only"] || row["x-identity"]);
    const fits = compared.length > 0 && compared.every(({ row, isSame }) => isSame || !row["x-create-only"]);
    const names = compared.filter(({ row }) => row["x-identity"]);
    const isNamed = names.length === 0 ? undefined : names.some(({ isSame }) => isSame);
    return fits ? [{ other, isNamed }] : [];
  });
}

type Objects = Pick<PlanInput, "observed" | "unmanaged">;

/** Binds declared addresses to the one existing object of their name, for kinds that hold no data; doubtful cases are left to the guard `may-exist`. */
export function findByName(
  { observed, unmanaged }: Objects,
  { desired, state, kinds }: Pick<PlanInput, "desired" | "state" | "kinds">,
): Objects {
  const open = desired.filter(({ address, kind, importId }) => {
    const isFree = importId === undefined && state.resources[address] === undefined && !observed.has(address);
    return isFree && state.intents[address] === undefined && !kinds.named(kind).holdsData;
  });
  const pairs = open.flatMap((entry): readonly (readonly [Desired, Unmanaged])[] => {
    const [only, ...others] = resembling(entry.kind, entry.spec, { kinds, unmanaged })
      .filter(({ isNamed }) => isNamed === true)
      .map(({ other }) => other);
    return only === undefined || others.length > 0 ? [] : [[entry, only]];
  });
  const wanted = Map.groupBy(pairs, ([, candidate]) => candidate);
  const found = pairs.filter(([, candidate]) => wanted.get(candidate)?.length === 1);
  if (found.length === 0) return { observed, unmanaged };
  const taken = new Set(found.map(([, candidate]) => candidate));
  const bound = found.flatMap(([{ address, kind }, { live, place }]): [Address, Observed][] =>
    live === undefined ? [] : [[address, { ...live, address, kind, place }]],
  );
  const withNames = naming(new Map(bound.map(([address, live]) => [address, live.outputs])));
  const named = [...observed, ...bound].map(([address, live]): [Address, Observed] => [
    address,
    { ...live, ...withNames(live, kinds.named(live.kind).schema) },
  ]);
  // One that may be a declared object refers to others as that one does.
  const others = unmanaged.filter((other) => !taken.has(other));
  const renamed = others.map(({ live, ...other }): Unmanaged => {
    const { schema } = kinds.named(other.kind);
    return { ...other, ...defined({ live: live && withNames(live, schema) }) };
  });
  return { observed: new Map(named), unmanaged: renamed };
}
