import { kinds } from "../../kinds/index.ts";
import { type JsonObject, stableJson } from "../../model/json.ts";
import type { Everything, Kind, LeftOut } from "../../model/kind.ts";
import { own } from "../../model/own.ts";
import type { Profile } from "../../model/profile.ts";
import { referenceFields } from "../../model/reference-fields.ts";
import type { Reads } from "../../model/service.ts";
import { type Discovery, type Found, isRefusal, lookAt, lookAtOne, together } from "./read-places.ts";
import type { TierSubscriptions } from "./tier-subscriptions.ts";

/**
 * Everything of these kinds that a subscription has: cloud accounts, networks, instances of every tier and component,
 * and what lies in them; in the order of the kinds, oldest first. Networks that no list shows are found through what
 * refers to them. A place that is refused or absent is left out, unless all of them are.
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
      const looked = await lookAgain(kind, all, subscriptions, service, signal);
      found.push(...looked.found);
      leftOut.push(...looked.leftOut);
      answered += 1;
      if (all.unplaced.length === 0) continue;
    }
    const isKnown = new Set(found.map((entry) => `${entry.kind.name} ${entry.live.id}`));
    const { places, leftOut: unasked } = placesOf(kind, service.profile, found, subscriptions);
    leftOut.push(...unasked);
    for (const looked of await lookAt(kind, places, service, signal)) {
      found.push(...looked.found.filter(({ live }) => !isKnown.has(`${kind.name} ${live.id}`)));
      leftOut.push(...looked.leftOut);
      if (looked.refusal === undefined) answered += 1;
      else refusals.push(looked.refusal);
    }
    const told = new Set([...found.map(({ live }) => live.id), ...leftOut.map(({ what }) => what)]);
    leftOut.push(...(all?.unplaced ?? []).filter(({ what }) => !told.has(what)));
  }
  if (answered === 0 && refusals[0] !== undefined) throw refusals[0];
  const unlisted = await behindReferences(found, service, signal);
  found.push(...unlisted.found);
  const order = new Map(kinds.map((kind, position) => [kind.name, position]));
  const rank = ({ kind, live }: Found): string =>
    `${order.get(kind.name) ?? 9} ${live.createdAt ?? ""} ${live.id}`;
  return {
    found: sortedBy(found, rank),
    leftOut: [...leftOut, ...unlisted.leftOut],
  };
}

/**
 * What one list showed of everything, as each place lists and describes it: a plan goes by that, and what it cannot look at has
 * no place in a manifest.
 */
async function lookAgain(
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
  const looks = [...places.values()].map(async (here): Promise<Discovery> => {
    const ids = here.map(({ live }) => live.id);
    const place = here[0]?.place ?? {};
    try {
      await reader.list(place, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { found: [], leftOut: ids.map((what) => ({ what, reason: error.message })) };
    }
    return together(await Promise.all(ids.map((id) => lookAtOne(kind, reader, place, id, signal))));
  });
  const looked = together(await Promise.all(looks));
  return { found: looked.found, leftOut: [...foreign, ...all.leftOut, ...looked.leftOut] };
}

/** Each key is made once: a fleet is compared many times with itself. */
function sortedBy(found: readonly Found[], rank: (entry: Found) => string): readonly Found[] {
  const ranked = found.map((entry) => [rank(entry), entry] as const);
  return ranked.sort(([left], [right]) => left.localeCompare(right)).map(([, entry]) => entry);
}

/** Why an object is not to be had with the subscriptions of this run; undefined where it is. */
function foreignTo(
  { place, subscription }: Everything["found"][number],
  subscriptions: TierSubscriptions | undefined,
): string | undefined {
  if (subscription === undefined || subscriptions === undefined) return undefined;
  const tier = String(place["tier"]);
  const own_ = own(subscriptions.byTier, tier);
  if (own_ === subscription) return undefined;
  const used = own_ === undefined ? "it is not clear which one of that tier is meant" : `${own_} is used`;
  return `it belongs to the ${tier} subscription ${subscription}, and ${used}: service.subscriptions.${tier}`;
}

/**
 * Where objects of a kind can be: a kind that lies in another one's objects is looked for in each of them. A tier without a
 * subscription is not asked; where that is not known to be none, it is left out.
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

/** Objects that others refer to and that their own kind's list does not have. */
async function behindReferences(
  found: readonly Found[],
  service: Reads,
  signal: AbortSignal,
): Promise<Discovery> {
  const wanted = new Map<string, { readonly kind: Kind; readonly id: string }>();
  const known = new Set(found.map(({ kind, live }) => `${kind.name} ${live.id}`));
  for (const { kind, live } of found) {
    for (const field of referenceFields(kind.schema)) {
      const id = live.spec[field.path]?.value;
      const target = kinds.find((entry) => entry.name === field.section);
      if (typeof id !== "string" || target === undefined || field.output !== "id") continue;
      const key = `${target.name} ${id}`;
      if (!known.has(key)) wanted.set(key, { kind: target, id });
    }
  }
  const looks = [...wanted.values()].map(({ kind, id }) =>
    lookAtOne(kind, kind.reader(service), {}, id, signal),
  );
  return together(await Promise.all(looks));
}
