/** @module Describes objects that no address is bound to, where one of them may be a declared resource. */
import { lackedWitnesses } from "../model/consistency.ts";
import type { Desired } from "../model/desired.ts";
import { isGraphformError, isServiceError } from "../model/errors.ts";
import { fieldRows, type KindSchema } from "../model/field-schema.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { kindRegistry } from "../model/kind.ts";
import { naming, type OutputTable } from "../model/manifest.ts";
import { type KnownObject, knowsNothing, type Live, placeKey, type Unmanaged } from "../model/observed.ts";
import type { Profile } from "../model/service.ts";
import { referenceFields } from "../model/templates.ts";
import { listWhole, placeWithWitnesses } from "../polling/prove-absence.ts";
import {
  type Listed,
  type ListedPlace,
  look,
  type ObserveContext,
  placeLister,
  readerOf,
  skipUnread,
} from "./observe-context.ts";

type Lives = ReadonlyMap<KnownObject, Live>;

/**
 * Lists a place again while its list, begun at `from` or later, lacks a bound object that describe shows, for kinds of which one may be
 * adopted by its name. `short`: the places whose lists still do at the end.
 */
export async function listAgain(
  places: readonly ListedPlace[],
  lists: readonly Listed[],
  desired: readonly Desired[],
  { lives, from }: { readonly lives: Lives; readonly from: number },
  context: ObserveContext,
): Promise<{ readonly lists: readonly Listed[]; readonly short: readonly ListedPlace[] }> {
  const { clock, profile, signal } = context;
  const sought = soughtKinds(desired, lives, context);
  const shown = new Set([...lives.keys()].map(({ kind, ref }) => `${kind} ${ref.id}`));
  const short: ListedPlace[] = [];
  const again = await Promise.all(
    places.map(async (at, index): Promise<Listed> => {
      const list = lists[index] ?? [];
      const reader = readerOf(at.kind, context);
      if (isServiceError(list) || !sought.has(at.kind) || reader.isListed === false) return list;
      const place = placeWithWitnesses(at, reader, context.state);
      const seen = { from, listed: new Set(list) };
      if (!lackedWitnesses(seen, place.witnesses, profile.timing).some((id) => shown.has(`${at.kind} ${id}`)))
        return list;
      const last = await listWhole(place, { clock, profile, stopping: signal });
      if (!last.isWhole) short.push(at);
      return [...(last.listed ?? list)];
    }),
  );
  return { lists: again, short };
}

/** Describes unmanaged objects of kinds with an unbound address: name or mark may show that one is its object. */
export async function describeUnmanaged(
  unmanaged: readonly KnownObject[],
  desired: readonly Desired[],
  lives: Lives,
  context: ObserveContext,
): Promise<Lives> {
  const sought = soughtKinds(desired, lives, context);
  const wanted = unmanaged.filter(({ kind }) => sought.has(kind));
  return look(wanted, context, (entry, error) => {
    const { holdsData, marksOwner } = context.kinds.named(entry.kind);
    const isByName = holdsData && !marksOwner(context.profile) && !knowsNothing(context.state);
    // The names of databases are looked at besides; those of others may be forbidden.
    if (!isByName || !isServiceError(error) || context.signal.aborted) skipUnread(entry, error, context);
  });
}

/**
 * Describes the unmanaged objects of kinds that are built on objects of these sections, at every place: one of them may stand on what a plan
 * deletes. A read that is refused shows nothing.
 */
export async function describeTenants(
  sections: ReadonlySet<string>,
  outputs: OutputTable,
  given: ObserveContext,
): Promise<readonly Unmanaged[]> {
  const kinds = given.kinds.all.filter(({ schema }) =>
    referenceFields(schema).some(({ holds, section }) => holds && sections.has(section)),
  );
  const context = { ...given, kinds: kindRegistry(kinds), unread: new Map() };
  const bound = new Set([
    ...Object.values(given.state.resources).map(({ kind, id }) => `${kind} ${id}`),
    ...[...outputs].map(([address, { id }]) => `${address.split(".", 1)[0]} ${String(id)}`),
  ]);
  const lists = await listElsewhere([], [], placeLister(context), context);
  const known = lists.flatMap(({ at: { kind, place }, ids = [] }) =>
    ids.map((id) => ({ address: "", kind, ref: { id, place } })),
  );
  const others = known.filter(({ kind, ref }) => !bound.has(`${kind} ${ref.id}`));
  const withNames = naming(outputs);
  return [...(await look(others, context))].map(([{ kind, ref }, live]) => ({
    kind,
    ...ref,
    live: withNames(live, context.kinds.named(kind).schema),
  }));
}

/** Kinds with an unbound address whose object may exist: found by a name that is shown, with marks by the mark; at first all. */
function soughtKinds(
  desired: readonly Desired[],
  lives: Lives,
  context: ObserveContext,
): ReadonlySet<string> {
  const open = desired.filter(
    ({ address, importId }) => importId === undefined && context.state.resources[address] === undefined,
  );
  const wanted = [...new Set(open.map(({ kind }) => kind))].filter((kind) => {
    if (knowsNothing(context.state)) return true;
    const { holdsData, schema, marksOwner } = context.kinds.named(kind);
    const [name] = [...fieldRows(schema)].flatMap(([path, row]) => (row["x-identity"] ? [path] : []));
    // Names of databases are shown by some services.
    const bound = [...lives].filter(([object]) => object.kind === kind);
    const isShown = bound.length === 0 || bound.some(([, { spec }]) => Object.hasOwn(spec, name ?? ""));
    return (name !== undefined && (!holdsData || isShown)) || marksOwner(context.profile);
  });
  return new Set(wanted);
}

/** Lists the places that have objects beside those that were listed. Without ids a list was refused. */
export async function listElsewhere(
  found: Iterable<KnownObject>,
  listed: readonly ListedPlace[],
  list: (at: ListedPlace) => Promise<Listed>,
  { kinds, profile, state, signal }: ObserveContext,
): Promise<readonly { readonly at: ListedPlace; readonly ids?: readonly string[] }[]> {
  const hosts = [...found].map(({ kind, ref }) => ({ kind, id: ref.id }));
  const known = new Set(listed.map(placeKey));
  const places = kinds.all.flatMap(({ name: kind, schema }) => {
    const all = everyPlace(schema, profile, undefined, hosts);
    return all.map((place) => ({ kind, place })).filter((at) => !known.has(placeKey(at)));
  });
  const subscribed = profile.subscriptions === "per-tier" ? state.service?.subscriptions : undefined;
  const isSubscribed = ({ tier }: JsonObject): boolean =>
    tier === undefined || subscribed === undefined || Object.hasOwn(subscribed, String(tier));
  const lists = places.map(async (at) => {
    const ids = await list(at).catch((error: unknown) => error);
    signal.throwIfAborted();
    if (Array.isArray(ids)) return { at, ids };
    if (!isGraphformError(ids)) throw ids;
    // An account may lack a component that the profile names, a subscription, or a whole kind.
    const isAbsent = isServiceError(ids)
      ? ids.failure === "not-found" || !isSubscribed(at.place)
      : ["not-offered", "no-account-resource"].includes(ids.code);
    return isAbsent ? { at, ids: [] } : { at };
  });
  return Promise.all(lists);
}

/** Places that can have objects of a kind: inside of their hosts, in each component of a tier that is subscribed to, or the one that there is. */
export function everyPlace(
  schema: KindSchema,
  { tiers }: Pick<Profile, "tiers">,
  subscriptions: { readonly [tier: string]: string } | undefined,
  hosts: readonly { readonly kind: string; readonly id: Json }[],
): readonly JsonObject[] {
  const through = referenceFields(schema).find((field) => field.place);
  if (through !== undefined)
    return hosts.flatMap(({ kind, id }) => (kind === through.section ? [{ [through.path]: id }] : []));
  if (schema.properties["tier"] === undefined) return [{}];
  return Object.entries(tiers).flatMap(([tier, { components }]) =>
    subscriptions === undefined || Object.hasOwn(subscriptions, tier)
      ? Object.keys(components).map((component) => ({ tier, component }))
      : [],
  );
}
