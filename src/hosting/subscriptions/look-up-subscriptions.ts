/** @module Looks up the subscriptions to the profile's plans: in the service's catalogue, otherwise by its objects. */
import { isServiceError, ServiceError } from "../../model/errors.ts";
import { defined, isObject, type Json } from "../../model/json.ts";
import type { Profile } from "../../model/profile.ts";
import type { Answer, Call } from "../../model/service.ts";
import { type PlanEntry, planEntries } from "../plan-catalogue.ts";
import { answerValues } from "../wire/answer-values.ts";
import { mayBeMore } from "../wire/read-answer.ts";

/** The subscriptions to each plan, by the plan's key in paths. */
export interface LookedUp {
  readonly byPlan: ReadonlyMap<string, readonly string[]>;
  /** The error because of which a missing plan may have a subscription. */
  readonly trouble?: ServiceError;
}

type Read = (call: Call) => Promise<Answer>;

/**
 * The subscriptions to each plan of the profile: one if it is clear which one is meant. The catalogue gives the id of a plan,
 * and the active subscriptions to that id are taken; if either list cannot be read, they are inferred from the objects that exist. Tiers in `given` are not inferred.
 */
export async function lookUpSubscriptions(
  profile: Profile,
  read: Read,
  given: { readonly [tier: string]: string },
  subscriptions: () => Promise<Attempt>,
): Promise<LookedUp> {
  const [plans, list] = await Promise.all([attempt(read, "plans.list"), subscriptions()]);
  const catalogue = planEntries(plans.answer?.body ?? null);
  const entries = entriesOf(list.answer);
  const active = entries.filter(isActive);
  const byPlan = subscribedTo(catalogue, active);
  const notGiven = Object.entries(profile.tiers).filter(([tier]) => !Object.hasOwn(given, tier));
  const keys = notGiven.map(([, { productTierKey }]) => productTierKey);
  const isListed = new Set(catalogue.map(({ productTierKey }) => productTierKey));
  const isCut = [plans, list].some(({ answer }) => answer !== undefined && mayBeMore(answer.values));
  const isAsked = (key: string): boolean => isCut || entries.length === 0 || !isListed.has(key);
  const open = keys.filter((key) => !byPlan.has(key) && isAsked(key));
  if (open.length === 0) return { byPlan };
  const taken = new Set([...[...byPlan.values()].flat(), ...Object.values(given)]);
  const inactive = new Set(entries.filter((entry) => !isActive(entry)).map(({ id }) => String(id)));
  const known = preferred(active).map(({ id }) => String(id));
  const inferred = await inferSubscriptions(
    { profile, read },
    { open: new Set(open), catalogue, known: known.filter((id) => !taken.has(id)), inactive },
  );
  const none = catalogue.length === 0 ? noPlans() : isCut ? notAll() : undefined;
  const trouble = plans.trouble ?? list.trouble ?? none;
  return {
    byPlan: new Map([...byPlan, ...inferred]),
    ...(trouble === undefined ? {} : { trouble: notLookedUp(trouble) }),
  };
}

function noPlans(): ServiceError {
  return new ServiceError("shape", "plans.list", "plans.list: the service lists no plans");
}

function notAll(): ServiceError {
  const message = "subscriptions.list: the service shows only a part of its plans or subscriptions";
  return new ServiceError("shape", "subscriptions.list", message);
}

type Entry = { readonly [name: string]: Json };

/** A list, or the error of a service that refuses it. */
export interface Attempt {
  readonly answer?: Answer;
  readonly trouble?: ServiceError;
}

/** The ids of a list of subscriptions, inactive ones too; none if the service does not show all of them. */
export function idsOfAll({ answer }: Attempt): readonly string[] {
  if (answer === undefined || mayBeMore(answer.values)) return [];
  return [...new Set(entriesOf(answer).map(({ id }) => String(id)))].sort();
}

/** Returns a list or its error; rethrows errors that end the run. */
export async function attempt(read: Read, operation: string): Promise<Attempt> {
  try {
    return { answer: await read({ operation, params: {} }) };
  } catch (error) {
    if (!isServiceError(error) || error.failure === "aborted" || !error.wasSent) throw error;
    return { trouble: error };
  }
}

function entriesOf(answer: Answer | undefined): readonly Entry[] {
  const items = answer?.values["items"];
  const found = (Array.isArray(items) ? items : []).filter(isObject);
  return found.filter(({ id }) => typeof id === "string" && id !== "");
}

function subscribedTo(
  catalogue: readonly PlanEntry[],
  active: readonly Entry[],
): ReadonlyMap<string, readonly string[]> {
  const found = catalogue.flatMap(({ productTierId, productTierKey }) => {
    const own = active.filter(({ plan }) => plan === productTierId && productTierId !== "");
    const ids = [...new Set(preferred(own).map(({ id }) => String(id)))];
    return ids.length === 0 ? [] : [[productTierKey, ids] as const];
  });
  return new Map(found);
}

function isActive({ status }: Entry): boolean {
  return typeof status !== "string" || status.toUpperCase() === "ACTIVE";
}

/** Own subscriptions before those of others; among them the default one. */
function preferred(entries: readonly Entry[]): readonly Entry[] {
  const own = entries.filter(({ role }) => role === "root");
  const candidates = own.length > 0 ? own : entries;
  const standard = candidates.filter(({ isDefault }) => isDefault === true);
  return standard.length > 0 ? standard : candidates;
}

interface Source {
  readonly profile: Profile;
  /** Sends a request that names the subscription of its parameters, or none if that is empty. */
  readonly read: (call: Call) => Promise<Answer>;
}

interface Open {
  /** Keys of the plans whose subscription is not known. */
  readonly open: ReadonlySet<string>;
  readonly catalogue: readonly PlanEntry[];
  /** Active subscriptions that no other plan has. */
  readonly known: readonly string[];
  readonly inactive: ReadonlySet<string>;
}

/** An object of the list of everything. */
interface Shown {
  readonly id: string;
  readonly subscription: string | undefined;
  /** Key of its plan, if the catalogue has its resource. */
  readonly plan: string | undefined;
}

/**
 * The subscriptions of the plans that are open, by their keys. An object belongs to the subscription that it shows, or to the
 * one under which it is listed; its plan is the one that the catalogue has its resource in, or the one whose path lists it.
 */
async function inferSubscriptions(
  source: Source,
  { open, catalogue, known, inactive }: Open,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const shown = await everything(source, catalogue);
  const direct = (shown ?? []).flatMap(({ plan = "", subscription }) =>
    subscription !== undefined && open.has(plan) ? [[plan, subscription] as const] : [],
  );
  // A list that shows nothing proves nothing: if plans cannot be listed, its answer may be as empty.
  const isTelling = ({ plan, subscription }: Shown): boolean =>
    plan !== undefined && subscription !== undefined;
  const isWhole = shown !== undefined && shown.length > 0 && shown.every(isTelling);
  const owners = new Map((shown ?? []).map(({ id, subscription }) => [id, subscription]));
  const seen = [...owners.values()].filter((id) => id !== undefined);
  const candidates = [...new Set([...known, ...seen])].filter((id) => !inactive.has(id));
  const settled = new Set(direct.map(([plan]) => plan));
  const left = new Set([...open].filter((plan) => !settled.has(plan)));
  const probed = isWhole ? [] : await probe(source, left, candidates, owners);
  const all = [...direct, ...probed].filter(([, id]) => !inactive.has(id));
  const grouped = Map.groupBy(all, ([plan]) => plan);
  return new Map([...grouped].map(([plan, pairs]) => [plan, [...new Set(pairs.map(([, id]) => id))]]));
}

/** The objects of every plan; undefined if there is no such list. */
async function everything(
  { profile, read }: Source,
  catalogue: readonly PlanEntry[],
): Promise<readonly Shown[] | undefined> {
  if (profile.operations["instance.list-all"] === undefined) return undefined;
  const names = profile.operations["instance.describe"]?.answer ?? {};
  const plans = new Map(
    catalogue.flatMap((entry) => entry.resources.map(({ id }) => [id, entry.productTierKey])),
  );
  const answer = await answered(read, { operation: "instance.list-all", params: {} });
  const items = answer?.values["items"];
  if (!Array.isArray(items)) return undefined;
  return items.filter(isObject).flatMap((item): readonly Shown[] => {
    const { resourceId, subscriptionId } = answerValues(item, names);
    const { id } = item;
    const plan = typeof resourceId === "string" ? plans.get(resourceId) : undefined;
    return typeof id === "string" ? [{ id, subscription: textOf(subscriptionId), plan }] : [];
  });
}

type Pair = readonly [plan: string, subscription: string];

/** Asks each component of the plans under each candidate; with none, under no subscription, if only the objects show one. */
async function probe(
  { profile, read }: Source,
  plans: ReadonlySet<string>,
  candidates: readonly string[],
  owners: ReadonlyMap<string, string | undefined>,
): Promise<readonly Pair[]> {
  const paths = Object.values(profile.tiers).filter(({ productTierKey }) => plans.has(productTierKey));
  const asked = candidates.length > 0 ? candidates : [""];
  const looks = paths.flatMap(({ serviceModelKey, productTierKey, components }) =>
    Object.values(components).flatMap((resourceKey) =>
      asked.map(async (subscriptionId): Promise<readonly Pair[]> => {
        const params = { serviceModelKey, productTierKey, resourceKey, subscriptionId };
        const ids = (await answered(read, { operation: "instance.list", params }))?.values["ids"];
        const owner = Array.isArray(ids)
          ? await ownerOf(ids.map(String), { read, params, owners })
          : undefined;
        return owner === undefined ? [] : [[productTierKey, owner]];
      }),
    ),
  );
  return (await Promise.all(looks)).flat();
}

/** The subscription of listed objects: shown by one of them, otherwise the one that they were listed under. */
async function ownerOf(
  ids: readonly string[],
  {
    read,
    params,
    owners,
  }: Pick<Source, "read"> &
    Pick<Call, "params"> & { readonly owners: ReadonlyMap<string, string | undefined> },
): Promise<string | undefined> {
  const shown = ids.map((id) => owners.get(id)).find((owner) => owner !== undefined);
  const [id] = ids;
  if (shown !== undefined || id === undefined) return shown;
  const answer = await answered(read, { operation: "instance.describe", params: { ...params, id } });
  const said = textOf(answer?.values["subscriptionId"]);
  return said ?? (answer === undefined ? undefined : textOf(params["subscriptionId"]));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The answer; undefined if the service refuses the request. */
async function answered(read: Source["read"], call: Call): Promise<Answer | undefined> {
  try {
    return await read(call);
  } catch (error) {
    if (isServiceError(error) && error.failure !== "aborted" && error.wasSent) return undefined;
    throw error;
  }
}

/** The look-up itself was refused. */
function notLookedUp(error: ServiceError): ServiceError {
  const { failure, operation, message, status } = error;
  return new ServiceError(failure, operation, `the subscriptions cannot be looked up: ${message}`, {
    ...defined({ status }),
    wasSent: false,
    cause: error,
    hint: "name them instead: service.subscriptions, GRAPHFORM_SUBSCRIPTION_ID or --subscription",
  });
}
