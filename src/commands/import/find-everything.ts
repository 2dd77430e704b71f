/** @module Finds every object that a subscription has. */
import { kinds } from "../../kinds/index.ts";
import { type JsonObject, own, stableJson } from "../../model/json.ts";
import type { Everything, Kind, LeftOut } from "../../model/kind.ts";
import type { Profile } from "../../model/profile.ts";
import type { Reads } from "../../model/service.ts";
import { referenceFields } from "../../model/templates.ts";
import type { TierSubscriptions } from "./manifest-text.ts";
import { type Discovery, type Found, isRefusal, merged, readObject, readPlaces } from "./read-places.ts";

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
  for (const kind of wanted) {
    const all = await kind.reader(service).listAll?.(signal);
    if (all !== undefined) {
      const read = await readListed(kind, all, subscriptions, service, signal);
      found.push(...read.found);
      leftOut.push(...read.leftOut);
      if (all.isWhole) answered += 1;
      if (all.isWhole && all.unplaced.length === 0) continue;
    }
    const known = new Set([
      ...found.filter((entry) => entry.kind === kind).map(({ live }) => live.id),
      ...leftOut.map(({ what }) => what),
    ]);
    const { places, leftOut: unasked } = placesOf(kind, service.profile, found, subscriptions);
    leftOut.push(...unasked);
    const reads = await readPlaces(kind, places, known, service, signal);
    for (const read of reads) {
      found.push(...read.found);
      leftOut.push(...read.leftOut);
      if (read.refusal === undefined) answered += 1;
      else refusals.push(read.refusal);
    }
    const isMore = all !== undefined && !all.isWhole && reads.some((read) => read.found.length > 0);
    const doubt = all?.doubt ?? (isMore ? "the list of everything does not show what they list" : undefined);
    if (doubt !== undefined)
      leftOut.push({ what: `${kind.name} of components that the profile does not name`, reason: doubt });
    const reported = new Set([...found.map(({ live }) => live.id), ...leftOut.map(({ what }) => what)]);
    leftOut.push(...(all?.unplaced ?? []).filter(({ what }) => !reported.has(what)));
  }
  if (answered === 0 && refusals[0] !== undefined) throw refusals[0];
  const unlisted = await readReferenced(found, service, signal);
  found.push(...unlisted.found);
  const order = new Map(kinds.all.map((kind, position) => [kind.name, position]));
  const rank = ({ kind, live }: Found): string =>
    `${order.get(kind.name) ?? 9} ${live.createdAt ?? ""} ${live.id}`;
  return {
    found: sortedBy(found, rank),
    leftOut: [...leftOut, ...unlisted.leftOut],
  };
}

/**
 * Reads the objects of a list of everything again, place by place: a plan reads them in this way, and an object that a plan
 * cannot read must not be declared.
 */
async function readListed(
  kind: Kind,
  all: Everything,
  subscriptions: TierSubscriptions | undefined,
  service: Reads,
  signal: AbortSignal,
): Promise<Discovery> {
  const entries = all.found.map((entry) => ({ ...entry, reason: foreignTo(entry, subscriptions) }));
  const foreign = entries.flatMap(({ live, reason }) =>
    reason === undefined ? [] : [{ what: live.id, reason }],
  );
  const own = entries.filter(({ live, reason }) => reason === undefined && live.phase.is !== "gone");
  const reader = kind.reader(service);
  const places = Map.groupBy(own, ({ place }) => stableJson(place));
  const reads = [...places.values()].map(async (entriesHere): Promise<Discovery> => {
    const ids = entriesHere.map(({ live }) => live.id);
    const place = entriesHere[0]?.place ?? {};
    try {
      await reader.list(place, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { found: [], leftOut: ids.map((what) => ({ what, reason: error.message })) };
    }
    return merged(await Promise.all(ids.map((id) => readObject(kind, reader, place, id, signal))));
  });
  const read = merged(await Promise.all(reads));
  return { found: read.found, leftOut: [...foreign, ...all.leftOut, ...read.leftOut] };
}

/** Sorts by rank; each rank is computed once, because a sort compares each entry many times. */
function sortedBy(found: readonly Found[], rank: (entry: Found) => string): readonly Found[] {
  const ranked = found.map((entry) => [rank(entry), entry] as const);
  return ranked.sort(([left], [right]) => left.localeCompare(right)).map(([, entry]) => entry);
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
 * Places where objects of a kind can be. Users are read from each instance. A tier without a subscription is not read; it is
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
  const tiers = Object.entries(profile.tiers);
  const asked = tiers.filter(
    ([tier]) =>
      profile.subscriptions !== "per-tier" ||
      subscriptions === undefined ||
      Object.hasOwn(subscriptions.byTier, tier),
  );
  return {
    places: asked.flatMap(([tier, { components }]) =>
      Object.keys(components).map((component) => ({ tier, component })),
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
  const wanted = new Map<string, { readonly kind: Kind; readonly id: string }>();
  const known = new Set(found.map(({ kind, live }) => `${kind.name} ${live.id}`));
  for (const { kind, live } of found) {
    for (const field of referenceFields(kind.schema)) {
      const id = live.spec[field.path]?.value;
      const target = kinds.find(field.section);
      if (typeof id !== "string" || target === undefined || field.output !== "id") continue;
      const key = `${target.name} ${id}`;
      if (!known.has(key)) wanted.set(key, { kind: target, id });
    }
  }
  const reads = [...wanted.values()].map(({ kind, id }) =>
    readObject(kind, kind.reader(service), {}, id, signal),
  );
  return merged(await Promise.all(reads));
}
