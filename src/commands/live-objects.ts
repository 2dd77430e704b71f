import { kinds } from "../kinds/index.ts";
import { isGraphformError, isServiceError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { Everything, Kind, LeftOut, Reader } from "../model/kind.ts";
import type { Live } from "../model/observed.ts";
import { own } from "../model/own.ts";
import type { Profile } from "../model/profile.ts";
import { referenceFields } from "../model/reference-fields.ts";
import type { Reads } from "../model/service.ts";

/** An object that the service has, whoever declares it. */
export interface Found {
  readonly kind: Kind;
  readonly place: JsonObject;
  readonly live: Live;
}

/** What there is, and what could not be looked at. */
export interface Discovery {
  readonly found: readonly Found[];
  readonly leftOut: readonly LeftOut[];
}

/** The subscription of each tier that is asked for; undefined where requests name none. */
export type Subscriptions = { readonly [tier: string]: string } | undefined;

/**
 * Everything of these kinds that a subscription has: cloud accounts, networks, instances of every tier and component,
 * and what lies in them; in the order of the kinds, oldest first. Networks that no list shows are found through what
 * refers to them. A place that is refused or absent is left out, unless all of them are.
 */
export async function findEverything(
  wanted: readonly Kind[],
  service: Reads,
  signal: AbortSignal,
  subscriptions: Subscriptions,
): Promise<Discovery> {
  const found: Found[] = [];
  const leftOut: LeftOut[] = [];
  const refusals: Error[] = [];
  let answered = 0;
  for (const kind of wanted) {
    const all = await kind.reader(service).listAll?.(signal);
    if (all !== undefined) {
      const own = all.found.map((entry) => ({ kind, ...entry, reason: foreignTo(entry, subscriptions) }));
      found.push(...own.filter(({ live, reason }) => reason === undefined && live.phase.is !== "gone"));
      leftOut.push(
        ...own.flatMap(({ live, reason }) => (reason === undefined ? [] : [{ what: live.id, reason }])),
        ...all.leftOut,
      );
      answered += 1;
      continue;
    }
    for (const looked of await at(kind, placesOf(kind, service.profile, found), service, signal)) {
      found.push(...looked.found);
      leftOut.push(...looked.leftOut);
      if (looked.refusal === undefined) answered += 1;
      else refusals.push(looked.refusal);
    }
  }
  if (answered === 0 && refusals[0] !== undefined) throw refusals[0];
  const unlisted = await behindReferences(found, service, signal);
  const order = new Map(kinds.map((kind, position) => [kind.name, position]));
  const rank = ({ kind, live }: Found): string =>
    `${order.get(kind.name) ?? 9} ${live.createdAt ?? ""} ${live.id}`;
  return {
    found: [...found, ...unlisted].sort((left, right) => rank(left).localeCompare(rank(right))),
    leftOut,
  };
}

/** Why an object is not to be had with the subscriptions of this run; undefined where it is. */
function foreignTo(
  { place, subscription }: Everything["found"][number],
  subscriptions: Subscriptions,
): string | undefined {
  if (subscription === undefined || subscriptions === undefined) return undefined;
  const tier = String(place["tier"]);
  const own_ = own(subscriptions, tier);
  if (own_ === subscription) return undefined;
  const used = own_ === undefined ? "it is not clear which one of that tier is meant" : `${own_} is used`;
  return `it belongs to the ${tier} subscription ${subscription}, and ${used}: service.subscriptions.${tier}`;
}

/** Where objects of a kind can be: a kind that lies in another one's objects is looked for in each of them. */
function placesOf(kind: Kind, profile: Profile, found: readonly Found[]): readonly JsonObject[] {
  const through = referenceFields(kind.schema).find((field) => field.place);
  if (through !== undefined) {
    const hosts = found.filter((entry) => entry.kind.name === through.section);
    return hosts.map(({ live }) => ({ [through.path]: live.outputs[through.output] ?? live.id }));
  }
  if (kind.schema.properties["tier"] === undefined) return [{}];
  return Object.entries(profile.tiers).flatMap(([tier, { components }]) =>
    Object.keys(components).map((component) => ({ tier, component })),
  );
}

/** What a place shows; its refusal where it could not be listed. */
interface Looked extends Discovery {
  readonly refusal?: Error;
}

async function at(
  kind: Kind,
  places: readonly JsonObject[],
  service: Reads,
  signal: AbortSignal,
): Promise<readonly Looked[]> {
  const reader = kind.reader(service);
  const look = async (place: JsonObject): Promise<Looked> => {
    const what = `${kind.name} of ${Object.values(place).join(" ") || "the service"}`;
    try {
      const ids = await reader.list(place, signal);
      const more = { what, reason: "the service has possibly more than it lists" };
      const lives = await Promise.all(ids.map((id) => one(kind, reader, place, id, signal)));
      const leftOut = lives.flatMap((each) => each.leftOut);
      return {
        found: lives.flatMap((each) => each.found),
        leftOut: reader.isPartial?.(place) === true ? [...leftOut, more] : leftOut,
      };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { found: [], leftOut: [{ what, reason: error.message }], refusal: error };
    }
  };
  return Promise.all(places.map(look));
}

/** One object of a list; one that this customer may not look at is left out by its id. */
async function one(
  kind: Kind,
  reader: Reader,
  place: JsonObject,
  id: string,
  signal: AbortSignal,
): Promise<Discovery> {
  const ref = { id, place: withOwn(kind, place, id) };
  try {
    const live = await reader.get(ref, signal);
    const isThere = live !== undefined && live.phase.is !== "gone";
    return { found: isThere ? [{ kind, place: ref.place, live }] : [], leftOut: [] };
  } catch (error) {
    if (!isServiceError(error, "forbidden")) throw error;
    return { found: [], leftOut: [{ what: id, reason: error.message }] };
  }
}

/** A list that is refused, or that this customer does not have. What is refused of one object it shows is no part of this. */
function isRefusal(error: unknown): error is Error {
  if (isServiceError(error))
    return ["forbidden", "not-found", "invalid"].includes(error.failure) && /\.list$/.test(error.operation);
  return isGraphformError(error) && ["no-account-resource", "subscription-ambiguous"].includes(error.code);
}

/** An id `host/name` carries the part of its place that the list did not ask for. */
function withOwn(kind: Kind, place: JsonObject, id: string): JsonObject {
  const own = Object.entries(kind.schema.properties).find(
    ([path, row]) =>
      row["x-place"] === true &&
      row["x-reference"] === undefined &&
      place[path] === undefined &&
      path !== "id",
  );
  return own === undefined ? place : { ...place, [own[0]]: id.slice(id.indexOf("/") + 1) };
}

/** Objects that others refer to and that their own kind's list does not have. */
async function behindReferences(
  found: readonly Found[],
  service: Reads,
  signal: AbortSignal,
): Promise<readonly Found[]> {
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
  const looks = [...wanted.values()].map(async ({ kind, id }): Promise<readonly Found[]> => {
    const live = await kind.reader(service).get({ id, place: {} }, signal);
    return live === undefined ? [] : [{ kind, place: {}, live }];
  });
  return (await Promise.all(looks)).flat();
}
