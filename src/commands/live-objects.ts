import { kinds } from "../kinds/index.ts";
import type { JsonObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { Live } from "../model/observed.ts";
import type { Profile } from "../model/profile.ts";
import { referenceFields } from "../model/reference-fields.ts";
import type { Reads } from "../model/service.ts";

/** An object that the service has, whoever declares it. */
export interface Found {
  readonly kind: Kind;
  readonly place: JsonObject;
  readonly live: Live;
}

/**
 * Everything of these kinds that a subscription has: cloud accounts, networks, instances of every tier and component,
 * and what lies in them; in the order of the kinds, oldest first. Networks that no list shows are found through what
 * refers to them.
 */
export async function findEverything(
  wanted: readonly Kind[],
  service: Reads,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const kind of wanted) {
    const places = placesOf(kind, service.profile, found);
    found.push(...(await at(kind, places, service, signal)));
  }
  const unlisted = await behindReferences(found, service, signal);
  const order = new Map(kinds.map((kind, position) => [kind.name, position]));
  const rank = ({ kind, live }: Found): string =>
    `${order.get(kind.name) ?? 9} ${live.createdAt ?? ""} ${live.id}`;
  return [...found, ...unlisted].sort((left, right) => rank(left).localeCompare(rank(right)));
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

async function at(
  kind: Kind,
  places: readonly JsonObject[],
  service: Reads,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  const reader = kind.reader(service);
  const lists = await Promise.all(
    places.map(async (place) =>
      (await reader.list(place, signal)).map((id) => ({ id, place: withOwn(kind, place, id) })),
    ),
  );
  const lives = await Promise.all(
    lists.flat().map(async (ref) => ({ ref, live: await reader.get(ref, signal) })),
  );
  return lives.flatMap(({ ref, live }) =>
    live === undefined || live.phase.is === "gone" ? [] : [{ kind, place: ref.place, live }],
  );
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
  for (const { kind, live } of found) {
    for (const field of referenceFields(kind.schema)) {
      const id = live.spec[field.path]?.value;
      const target = kinds.find((entry) => entry.name === field.section);
      if (typeof id !== "string" || target === undefined || field.output !== "id") continue;
      if (!found.some((entry) => entry.kind === target && entry.live.id === id))
        wanted.set(`${target.name} ${id}`, { kind: target, id });
    }
  }
  const looks = [...wanted.values()].map(async ({ kind, id }): Promise<readonly Found[]> => {
    const live = await kind.reader(service).get({ id, place: {} }, signal);
    return live === undefined ? [] : [{ kind, place: {}, live }];
  });
  return (await Promise.all(looks)).flat();
}
