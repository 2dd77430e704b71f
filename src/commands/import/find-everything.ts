/** @module Finds every object that a subscription has; a read that is refused is reported with its reason. */
import { kinds } from "../../kinds/index.ts";
import { isGraphformError, isServiceError } from "../../model/errors.ts";
import { type JsonObject, own, stableJson } from "../../model/json.ts";
import type { Everything, Kind, LeftOut } from "../../model/kind.ts";
import { type Live, placeText } from "../../model/observed.ts";
import { perObject } from "../../model/once.ts";
import type { Reads } from "../../model/service.ts";
import { referenceFields } from "../../model/templates.ts";
import { everyPlace } from "../../observe/unmanaged.ts";
import type { TierSubscriptions } from "../../project/add-subscriptions.ts";

export interface Found {
  readonly kind: Kind;
  readonly place: JsonObject;
  readonly live: Live;
}

/** Something that was not read. `refusal` is the error if it is the list of a place. */
interface Unread extends LeftOut {
  readonly refusal?: Error;
}

type Reading = Found | Unread;

interface KindReads {
  readonly kind: Kind;
  readonly reader: ReturnType<Kind["reader"]>;
  readonly signal: AbortSignal;
}

/**
 * Reads every object of these kinds, those that only references name included. Sorted by kind, then by age. A place whose list is refused is
 * left out; if all are refused, the first refusal is thrown.
 */
export async function findEverything(
  wanted: readonly Kind[],
  service: Reads,
  signal: AbortSignal,
  subscriptions: TierSubscriptions | undefined,
): Promise<{ readonly found: readonly Found[]; readonly leftOut: readonly LeftOut[] }> {
  const found: Found[] = [];
  const leftOut: Unread[] = [];
  const refusals: Error[] = [];
  let answered = 0;
  const take = (readings: readonly Reading[]): void => {
    for (const reading of readings)
      if ("live" in reading) found.push(reading);
      else leftOut.push(reading);
  };
  for (const kind of wanted) {
    const reads: KindReads = { kind, reader: kind.reader(service), signal };
    const all = await reads.reader.listAll?.(signal);
    if (all !== undefined) take(await readListed(all, subscriptions, reads));
    if (all?.isWhole === true) answered += 1;
    if (all?.isWhole === true && all.unplaced.length === 0) continue;
    // Objects that a database has made by itself are not declared.
    const made = found.flatMap(({ kind: host, live }) => host.implicitChildren(live.id, live.spec));
    const ofKind = found.filter((entry) => entry.kind === kind);
    const known = reported(ofKind, [...leftOut, ...made.map(({ id }) => ({ what: id }))]);
    const { profile } = service;
    const byTier = profile.subscriptions === "per-tier" ? subscriptions?.byTier : undefined;
    const hosts = found.map(({ kind: { name }, live }) => ({
      kind: name,
      id: live.outputs["id"] ?? live.id,
    }));
    const places = everyPlace(kind.schema, profile, byTier, hosts);
    if (kind.schema.properties["tier"] !== undefined)
      for (const [tier, reason] of subscriptions?.unknown ?? [])
        leftOut.push({ what: `${kind.name} of ${tier}`, reason });
    const here = await Promise.all(places.map((place) => readPlace(place, reads, { known })));
    take(here.flat());
    const refused = here.flatMap(([first]) => (first && "refusal" in first && first.refusal) || []);
    refusals.push(...refused);
    answered += here.length - refused.length;
    const isMore = all?.isWhole === false && here.flat().some((reading) => "live" in reading);
    const doubt = all?.doubt ?? (isMore ? "the list of everything does not show what they list" : undefined);
    if (doubt !== undefined)
      leftOut.push({ what: `${kind.name} of components that the profile does not name`, reason: doubt });
    const said = reported(found, leftOut);
    leftOut.push(...(all?.unplaced ?? []).filter(({ what }) => !said.has(what)));
  }
  if (answered === 0 && refusals[0] !== undefined) throw refusals[0];
  take(await readReferenced(found, service, signal));
  const rankOf = perObject(
    ({ kind, live }: Found) => `${kinds.all.indexOf(kind)} ${live.createdAt ?? ""} ${live.id}`,
  );
  return { found: found.toSorted((a, b) => rankOf(a).localeCompare(rankOf(b))), leftOut };
}

/** The ids that were read, and everything that was left out. */
function reported(found: readonly Found[], leftOut: readonly Pick<LeftOut, "what">[]): ReadonlySet<string> {
  return new Set([...found.map(({ live }) => live.id), ...leftOut.map(({ what }) => what)]);
}

/** Reads the objects of such a list again, place by place, as a plan does: an object that a plan cannot read must not be declared. */
async function readListed(
  all: Everything,
  subscriptions: TierSubscriptions | undefined,
  reads: KindReads,
): Promise<readonly Reading[]> {
  const entries = all.found.map((entry) => ({ ...entry, reason: foreignTo(entry, subscriptions) }));
  const foreign = entries.flatMap(({ live, reason }) =>
    reason === undefined ? [] : [{ what: live.id, reason }],
  );
  const own = entries.filter(({ live, reason }) => reason === undefined && live.phase.is !== "gone");
  const places = Map.groupBy(own, ({ place }) => stableJson(place));
  const read = await Promise.all(
    [...places.values()].map((here) =>
      readPlace(here[0]?.place ?? {}, reads, { ids: here.map(({ live }) => live.id) }),
    ),
  );
  return [...foreign, ...all.leftOut, ...read.flat()];
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

/** Reads objects that others refer to and that the list of their kind does not show. */
async function readReferenced(
  found: readonly Found[],
  service: Reads,
  signal: AbortSignal,
): Promise<readonly Reading[]> {
  const wanted = new Map<string, Promise<Reading | undefined>>();
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
  return (await Promise.all(wanted.values())).flatMap((reading) => reading ?? []);
}

/** Lists a place, and reads these objects there, or all that are listed and not known. */
async function readPlace(
  place: JsonObject,
  reads: KindReads,
  { ids, known }: { readonly ids?: readonly string[]; readonly known?: ReadonlySet<string> },
): Promise<readonly Reading[]> {
  const { kind, reader, signal } = reads;
  const what = placeText(kind.name, place);
  try {
    const listed = await reader.list(place, signal);
    const wanted = ids ?? listed.filter((id) => known?.has(id) !== true);
    const read = await Promise.all(wanted.map((id) => readObject(place, id, reads)));
    const isPartial = ids === undefined && reader.isPartial?.(place) === true;
    const more = isPartial ? [{ what, reason: "the service has possibly more than it lists" }] : [];
    return [...read.flatMap((reading) => reading ?? []), ...more];
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return (ids ?? [what]).map((each) => ({ what: each, reason: error.message, refusal: error }));
  }
}

/** Reads one listed object; undefined if it is gone for good. */
async function readObject(
  place: JsonObject,
  id: string,
  { kind, reader, signal }: KindReads,
): Promise<Reading | undefined> {
  const ref = { id, place: withIdPart(kind, place, id) };
  try {
    const live = await reader.get(ref, signal);
    if (live === undefined) return { what: id, reason: "it is listed, but it was gone when it was read" };
    if (live.phase.isLeaving === true) return { what: id, reason: "it is being deleted" };
    // A failed object is left out: its plan would contain a restart or another repair.
    if (live.phase.is === "failed")
      return {
        what: id,
        reason: `it is ${live.phase.detail}; once it is ready: graphform import ADDRESS ${id}`,
      };
    return live.phase.is === "gone" ? undefined : { kind, place: ref.place, live };
  } catch (error) {
    // `invalid` means that graphform sent a wrong request: that would fail for every object.
    if (!isServiceError(error) || ["aborted", "invalid"].includes(error.failure)) throw error;
    return { what: id, reason: error.message };
  }
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
