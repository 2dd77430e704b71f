/** @module Finds every object that a subscription has; a read that is refused is reported with its reason. */
import { kinds } from "../../kinds/index.ts";
import { isGraphformError, isServiceError } from "../../model/errors.ts";
import { type JsonObject, own, stableJson } from "../../model/json.ts";
import type { Everything, Kind, LeftOut } from "../../model/kind.ts";
import { placeText } from "../../model/object-key.ts";
import type { Live } from "../../model/observed.ts";
import type { Profile } from "../../model/profile.ts";
import type { Reads } from "../../model/service.ts";
import { referenceFields } from "../../model/templates.ts";
import type { TierSubscriptions } from "../../project/subscriptions.ts";

/** An object of the service, declared or not. */
export interface Found {
  readonly kind: Kind;
  readonly place: JsonObject;
  readonly live: Live;
}

/** Objects that were read, and objects that could not be read; `refusal` is set if the list of their place was refused. */
interface Discovery {
  readonly found: readonly Found[];
  readonly leftOut: readonly LeftOut[];
  readonly refusal?: Error;
}

/** Reads one kind in one subscription. */
interface KindReads {
  readonly kind: Kind;
  readonly reader: ReturnType<Kind["reader"]>;
  readonly signal: AbortSignal;
}

/**
 * Reads every object of these kinds: cloud accounts, networks, instances of every tier and component, and their users. Sorted
 * by kind, then by age. Networks that no list shows are found by the references to them. A place whose list is refused is left
 * out; if all are refused, the first refusal is thrown.
 */
export async function findEverything(
  wanted: readonly Kind[],
  service: Reads,
  signal: AbortSignal,
  subscriptions: TierSubscriptions | undefined,
): Promise<Discovery> {
  const found: Found[] = [];
  const leftOut: LeftOut[] = [];
  const refusals: Error[] = [];
  let answered = 0;
  const take = (read: Discovery): void => {
    found.push(...read.found);
    leftOut.push(...read.leftOut);
  };
  for (const kind of wanted) {
    const reads: KindReads = { kind, reader: kind.reader(service), signal };
    const all = await reads.reader.listAll?.(signal);
    if (all !== undefined) {
      take(await readListed(all, subscriptions, reads));
      if (all.isWhole) answered += 1;
      if (all.isWhole && all.unplaced.length === 0) continue;
    }
    const known = new Set([
      ...found.filter((entry) => entry.kind === kind).map(({ live }) => live.id),
      ...leftOut.map(({ what }) => what),
    ]);
    const { places, leftOut: unasked } = placesOf(kind, service.profile, found, subscriptions);
    leftOut.push(...unasked);
    const here = await Promise.all(places.map((place) => readPlace(place, reads, { known })));
    for (const read of here) {
      take(read);
      if (read.refusal === undefined) answered += 1;
      else refusals.push(read.refusal);
    }
    const isMore = all !== undefined && !all.isWhole && here.some((read) => read.found.length > 0);
    const doubt = all?.doubt ?? (isMore ? "the list of everything does not show what they list" : undefined);
    if (doubt !== undefined)
      leftOut.push({ what: `${kind.name} of components that the profile does not name`, reason: doubt });
    const reported = new Set([...found.map(({ live }) => live.id), ...leftOut.map(({ what }) => what)]);
    leftOut.push(...(all?.unplaced ?? []).filter(({ what }) => !reported.has(what)));
  }
  if (answered === 0 && refusals[0] !== undefined) throw refusals[0];
  take(await readReferenced(found, service, signal));
  // Each rank is computed once, because a sort compares each entry many times.
  const order = new Map(kinds.all.map((kind, position) => [kind.name, position]));
  const ranked = found.map((entry) => {
    const { kind, live } = entry;
    return [`${order.get(kind.name) ?? 9} ${live.createdAt ?? ""} ${live.id}`, entry] as const;
  });
  ranked.sort(([left], [right]) => left.localeCompare(right));
  return { found: ranked.map(([, entry]) => entry), leftOut };
}

/**
 * Reads the objects of a list of everything again, place by place: a plan reads them in this way, and an object that a plan
 * cannot read must not be declared.
 */
async function readListed(
  all: Everything,
  subscriptions: TierSubscriptions | undefined,
  reads: KindReads,
): Promise<Discovery> {
  const entries = all.found.map((entry) => ({ ...entry, reason: foreignTo(entry, subscriptions) }));
  const foreign = entries.flatMap(({ live, reason }) =>
    reason === undefined ? [] : [{ what: live.id, reason }],
  );
  const own = entries.filter(({ live, reason }) => reason === undefined && live.phase.is !== "gone");
  const places = Map.groupBy(own, ({ place }) => stableJson(place));
  const read = await Promise.all(
    [...places.values()].map((here) => {
      const ids = here.map(({ live }) => live.id);
      return readPlace(here[0]?.place ?? {}, reads, { ids });
    }),
  );
  return merged([{ found: [], leftOut: [...foreign, ...all.leftOut] }, ...read]);
}

/** Reason why the subscriptions of this run cannot manage an object; undefined if they can. */
function foreignTo(
  { place, subscription }: Everything["found"][number],
  subscriptions: TierSubscriptions | undefined,
): string | undefined {
  if (subscription === undefined || subscriptions === undefined) return undefined;
  const tier = String(place["tier"]);
  const used = own(subscriptions.byTier, tier);
  if (used === subscription) return undefined;
  const instead =
    used === undefined ? "the subscription to use for that tier is not clear" : `${used} is used`;
  return `it belongs to the ${tier} subscription ${subscription}, and ${instead}: service.subscriptions.${tier}`;
}

/**
 * Places that can have objects of a kind. Users are read from each instance. A tier without a subscription is not read; it is
 * reported as left out if the lookup of its subscription failed.
 */
function placesOf(
  kind: Kind,
  profile: Profile,
  found: readonly Found[],
  subscriptions: TierSubscriptions | undefined,
): { readonly places: readonly JsonObject[]; readonly leftOut: readonly LeftOut[] } {
  const through = referenceFields(kind.schema).find((field) => field.place);
  if (through !== undefined) {
    const hosts = found.filter((entry) => entry.kind.name === through.section);
    const places = hosts.map(({ live }) => ({ [through.path]: live.outputs[through.output] ?? live.id }));
    return { places, leftOut: [] };
  }
  if (kind.schema.properties["tier"] === undefined) return { places: [{}], leftOut: [] };
  const isAsked = (tier: string): boolean =>
    profile.subscriptions !== "per-tier" ||
    subscriptions === undefined ||
    Object.hasOwn(subscriptions.byTier, tier);
  return {
    places: Object.entries(profile.tiers).flatMap(([tier, { components }]) =>
      isAsked(tier) ? Object.keys(components).map((component) => ({ tier, component })) : [],
    ),
    leftOut: [...(subscriptions?.unknown ?? [])].map(([tier, reason]) => ({
      what: `${kind.name} of ${tier}`,
      reason,
    })),
  };
}

/** Reads objects that others refer to and that the list of their kind does not show. */
async function readReferenced(
  found: readonly Found[],
  service: Reads,
  signal: AbortSignal,
): Promise<Discovery> {
  const wanted = new Map<string, Promise<Discovery>>();
  const known = new Set(found.map(({ kind, live }) => `${kind.name} ${live.id}`));
  for (const { kind, live } of found) {
    for (const field of referenceFields(kind.schema)) {
      const id = live.spec[field.path]?.value;
      const target = kinds.find(field.section);
      if (typeof id !== "string" || target === undefined || field.output !== "id") continue;
      const key = `${target.name} ${id}`;
      if (known.has(key) || wanted.has(key)) continue;
      wanted.set(key, readObject({}, id, { kind: target, reader: target.reader(service), signal }));
    }
  }
  return merged(await Promise.all(wanted.values()));
}

/** Lists a place, and reads these objects there, or all that are listed and not known. */
async function readPlace(
  place: JsonObject,
  reads: KindReads,
  { ids, known }: { readonly ids?: readonly string[]; readonly known?: ReadonlySet<string> },
): Promise<Discovery> {
  const { kind, reader, signal } = reads;
  const what = placeText(kind.name, place);
  try {
    const listed = await reader.list(place, signal);
    const wanted = ids ?? listed.filter((id) => known?.has(id) !== true);
    const read = merged(await Promise.all(wanted.map((id) => readObject(place, id, reads))));
    if (ids !== undefined || reader.isPartial?.(place) !== true) return read;
    const more = { what, reason: "the service has possibly more than it lists" };
    return { found: read.found, leftOut: [...read.leftOut, more] };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const reason = error.message;
    return {
      found: [],
      leftOut: (ids ?? [what]).map((each) => ({ what: each, reason })),
      refusal: error,
    };
  }
}

/** Reads one listed object; on failure its id is in `leftOut`. */
async function readObject(
  place: JsonObject,
  id: string,
  { kind, reader, signal }: KindReads,
): Promise<Discovery> {
  const leaving = (reason: string): Discovery => ({ found: [], leftOut: [{ what: id, reason }] });
  const ref = { id, place: withIdPart(kind, place, id) };
  try {
    const live = await reader.get(ref, signal);
    if (live === undefined) return leaving("it is listed, but it was gone when it was read");
    if (live.phase.isLeaving === true) return leaving("it is being deleted");
    // The plan of a failed object would not be empty: it contains a restart or another repair.
    if (live.phase.is === "failed")
      return leaving(`it is ${live.phase.detail}; once it is ready: graphform import ADDRESS ${id}`);
    return { found: live.phase.is === "gone" ? [] : [{ kind, place: ref.place, live }], leftOut: [] };
  } catch (error) {
    // `invalid` means that graphform sent a wrong request: that would fail for every object.
    if (!isServiceError(error) || ["aborted", "invalid"].includes(error.failure)) throw error;
    return leaving(error.message);
  }
}

function merged(parts: readonly Discovery[]): Discovery {
  return {
    found: parts.flatMap((part) => part.found),
    leftOut: parts.flatMap((part) => part.leftOut),
  };
}

/** True for a refused list, or one that this customer does not have; false for a refused read of one object. */
function isRefusal(error: unknown): error is Error {
  if (isServiceError(error)) return error.failure !== "aborted" && /\.list$/.test(error.operation);
  return isGraphformError(error) && ["no-account-resource", "subscription-ambiguous"].includes(error.code);
}

/** Adds to the place the name from an id `host/name`: the request of the list did not contain it. */
function withIdPart(kind: Kind, place: JsonObject, id: string): JsonObject {
  const own = Object.entries(kind.schema.properties).find(
    ([path, row]) =>
      row["x-place"] === true &&
      row["x-reference"] === undefined &&
      place[path] === undefined &&
      path !== "id",
  );
  return own === undefined ? place : { ...place, [own[0]]: id.slice(id.indexOf("/") + 1) };
}
