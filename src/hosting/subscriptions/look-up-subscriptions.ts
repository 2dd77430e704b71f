/** @module Looks up the subscriptions to the profile's plans: in the service's catalogue, otherwise by its objects. */
import { isServiceError, ServiceError } from "../../model/errors.ts";
import { defined, filledTextIn, type JsonObject, objectsIn } from "../../model/json.ts";
import type { Call, Profile, TierKeys } from "../../model/service.ts";
import { type PlanEntry, planEntries } from "../plan-catalogue.ts";
import { type Attempt, attempt, mayBeMore, type Read } from "../wire/read-answer.ts";
import { answerValues } from "../wire/spelling.ts";

/** The subscriptions to each plan, by the plan's key in paths. */
export interface LookedUp {
  readonly byPlan: ReadonlyMap<string, readonly string[]>;
  /** The error because of which a missing plan may have a subscription. */
  readonly trouble?: ServiceError;
}

/** The reads of a look-up; the caller shares their answers with other look-ups. */
export interface LookUpReads {
  /** Sends a request that names the subscription of its parameters, or none if that is empty. */
  readonly read: Read;
  readonly subscriptions: () => Promise<Attempt>;
  readonly objects: () => Promise<readonly Shown[] | undefined>;
}

/**
 * The subscription to each plan, if it is clear. The catalogue gives the id of a plan, and its active subscriptions are taken;
 * if either list cannot be read, they are inferred from the objects that exist, but not for tiers in `given`.
 */
export async function lookUpSubscriptions(
  profile: Profile,
  reads: LookUpReads,
  given: { readonly [tier: string]: string },
): Promise<LookedUp> {
  const asked = [attempt(reads.read, { operation: "plans.list", params: {} }), reads.subscriptions()];
  const answers = await Promise.all(asked);
  const [plans, list] = answers;
  const catalogue = planEntries(plans === undefined || isServiceError(plans) ? null : plans.body);
  const entries = entriesOf(list);
  const active = entries.filter(isActive);
  const byPlan = subscribedTo(catalogue, active);
  const notGiven = Object.entries(profile.tiers).filter(([tier]) => !Object.hasOwn(given, tier));
  const keys = notGiven.map(([, { productTierKey }]) => productTierKey);
  const isListed = new Set(catalogue.map(({ productTierKey }) => productTierKey));
  const isCut = answers.some((answer) => !isServiceError(answer) && mayBeMore(answer.values));
  const isAsked = (key: string): boolean => isCut || entries.length === 0 || !isListed.has(key);
  const open = keys.filter((key) => !byPlan.has(key) && isAsked(key));
  if (open.length === 0) return { byPlan };
  const taken = new Set([...[...byPlan.values()].flat(), ...Object.values(given)]);
  const inactive = new Set(entries.filter((entry) => !isActive(entry)).map(({ id }) => String(id)));
  const known = preferred(active).map(({ id }) => String(id));
  const inferred = await inferSubscriptions(profile, reads, {
    ...{ open: new Set(open), catalogue, inactive },
    known: known.filter((id) => !taken.has(id)),
  });
  const unlisted = new ServiceError("shape", "plans.list", "plans.list: the service lists no plans");
  const partly = "subscriptions.list: the service shows only a part of its plans or subscriptions";
  const cut = isCut ? new ServiceError("shape", "subscriptions.list", partly) : undefined;
  const refused = answers.find((answer) => isServiceError(answer));
  const trouble = refused ?? (catalogue.length === 0 ? unlisted : cut);
  return {
    byPlan: new Map([...byPlan, ...inferred]),
    ...(trouble === undefined ? {} : { trouble: notLookedUp(trouble) }),
  };
}

/** The ids of a list of subscriptions, inactive ones too; none if the service does not show all of them. */
export function idsOfAll(list: Attempt): readonly string[] {
  if (isServiceError(list) || mayBeMore(list.values)) return [];
  return [...new Set(entriesOf(list).map(({ id }) => String(id)))].sort();
}

/** The items of a list that have an id; none if the list was refused. */
function entriesOf(list: Attempt | undefined): readonly JsonObject[] {
  const items = list === undefined || isServiceError(list) ? [] : list.values["items"];
  return objectsIn(items).filter(({ id }) => filledTextIn(id) !== undefined);
}

function subscribedTo(
  catalogue: readonly PlanEntry[],
  active: readonly JsonObject[],
): ReadonlyMap<string, readonly string[]> {
  const found = catalogue.flatMap(({ productTierId, productTierKey }) => {
    const own = active.filter(({ plan }) => plan === productTierId && productTierId !== "");
    const ids = [...new Set(preferred(own).map(({ id }) => String(id)))];
    return ids.length === 0 ? [] : [[productTierKey, ids] as const];
  });
  return new Map(found);
}

function isActive({ status }: JsonObject): boolean {
  return typeof status !== "string" || status.toUpperCase() === "ACTIVE";
}

/** Own subscriptions before those of others; among them the default one. */
function preferred(entries: readonly JsonObject[]): readonly JsonObject[] {
  const own = entries.filter(({ role }) => role === "root");
  const candidates = own.length > 0 ? own : entries;
  const standard = candidates.filter(({ isDefault }) => isDefault === true);
  return standard.length > 0 ? standard : candidates;
}

interface Open {
  /** Keys of the plans whose subscription is not known. */
  readonly open: ReadonlySet<string>;
  readonly catalogue: readonly PlanEntry[];
  /** Active subscriptions that no other plan has. */
  readonly known: readonly string[];
  readonly inactive: ReadonlySet<string>;
}

type Pair = readonly [plan: string, subscription: string];

/**
 * The subscriptions of the plans that are open, by their keys. An object belongs to the subscription that it shows, or to the
 * one under which it is listed; its plan is the one that the catalogue has its resource in, or the one whose path lists it.
 */
async function inferSubscriptions(
  profile: Profile,
  { read, objects }: LookUpReads,
  { open, catalogue, known, inactive }: Open,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const shown = (await objects()) ?? [];
  const planOf = new Map(
    catalogue.flatMap(({ resources, productTierKey }) => resources.map(({ id }) => [id, productTierKey])),
  );
  const direct = shown.flatMap(({ resource = "", subscription }): readonly Pair[] => {
    const plan = planOf.get(resource) ?? "";
    return subscription !== undefined && open.has(plan) ? [[plan, subscription]] : [];
  });
  // An empty list is no proof: a refused look-up may be answered with one.
  const isTelling = ({ resource = "", subscription }: Shown): boolean =>
    planOf.has(resource) && subscription !== undefined;
  const isWhole = shown.length > 0 && shown.every(isTelling);
  const owners = new Map(shown.map(({ id, subscription }) => [id, subscription]));
  const seen = [...owners.values()].filter((id) => id !== undefined);
  const candidates = [...new Set([...known, ...seen])].filter((id) => !inactive.has(id));
  const settled = new Set(direct.map(([plan]) => plan));
  const left = Object.values(profile.tiers).filter(
    ({ productTierKey: key }) => open.has(key) && !settled.has(key),
  );
  const probed = isWhole ? [] : await probe(read, left, candidates, owners);
  const all = [...direct, ...probed].filter(([, id]) => !inactive.has(id));
  const grouped = Map.groupBy(all, ([plan]) => plan);
  return new Map([...grouped].map(([plan, pairs]) => [plan, [...new Set(pairs.map(([, id]) => id))]]));
}

export interface Shown {
  readonly id: string;
  readonly resource: string | undefined;
  readonly subscription: string | undefined;
}

/** The objects of every plan; undefined if there is no such list, or it is refused. */
export async function everyObject(
  { operations }: Profile,
  read: Read,
): Promise<readonly Shown[] | undefined> {
  if (operations["instance.list-all"] === undefined) return undefined;
  const names = operations["instance.describe"]?.answer ?? {};
  const list = await attempt(read, { operation: "instance.list-all", params: {} });
  if (isServiceError(list) || !Array.isArray(list.values["items"])) return undefined;
  return entriesOf(list).map((item) => {
    const { resourceId, subscriptionId } = answerValues(item, names);
    const subscription = filledTextIn(subscriptionId) ?? filledTextIn(item["subscriptionId"]);
    return { id: String(item["id"]), resource: filledTextIn(resourceId), subscription };
  });
}

/** Asks each component of the plans under each candidate; with none, under no subscription, if only the objects show one. */
async function probe(
  read: Read,
  tiers: readonly TierKeys[],
  candidates: readonly string[],
  owners: ReadonlyMap<string, string | undefined>,
): Promise<readonly Pair[]> {
  const asked = candidates.length > 0 ? candidates : [""];
  const looks = tiers.flatMap((tier) =>
    asked.flatMap((subscriptionId) =>
      componentsOf(tier, subscriptionId).map(async (params): Promise<readonly Pair[]> => {
        const owner = await ownerOf(await listedIds(read, params), read, params, owners);
        return owner === undefined ? [] : [[tier.productTierKey, owner]];
      }),
    ),
  );
  return (await Promise.all(looks)).flat();
}

export function componentsOf(
  { serviceModelKey, productTierKey, components }: TierKeys,
  subscriptionId: string,
): readonly Call["params"][] {
  const keys = { serviceModelKey, productTierKey, subscriptionId };
  return Object.values(components).map((resourceKey) => ({ ...keys, resourceKey }));
}

/** The ids of the objects of a component; none if the list is refused. */
export async function listedIds(read: Read, params: Call["params"]): Promise<readonly string[]> {
  const list = await attempt(read, { operation: "instance.list", params });
  const ids = isServiceError(list) ? [] : list.values["ids"];
  return (Array.isArray(ids) ? ids : []).map(String);
}

/** The subscription of listed objects: shown by one of them, otherwise the one that they were listed under. */
async function ownerOf(
  ids: readonly string[],
  read: Read,
  params: Call["params"],
  owners: ReadonlyMap<string, string | undefined>,
): Promise<string | undefined> {
  const shown = ids.map((id) => owners.get(id)).find((owner) => owner !== undefined);
  const [id] = ids;
  if (shown !== undefined || id === undefined) return shown;
  const answer = await attempt(read, { operation: "instance.describe", params: { ...params, id } });
  if (isServiceError(answer)) return undefined;
  return filledTextIn(answer.values["subscriptionId"]) ?? filledTextIn(params["subscriptionId"]);
}

function notLookedUp(error: ServiceError): ServiceError {
  const { failure, operation, message, status } = error;
  return new ServiceError(failure, operation, `the subscriptions cannot be looked up: ${message}`, {
    ...defined({ status }),
    wasSent: false,
    cause: error,
    hint: "name them instead: service.subscriptions, GRAPHFORM_SUBSCRIPTION_ID or --subscription",
  });
}
