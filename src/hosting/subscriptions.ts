import { isServiceError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import { own } from "../model/own.ts";
import type { Endpoint, Profile } from "../model/profile.ts";
import type { Answer, Call } from "../model/service.ts";
import { planEntries } from "./plan-catalogue.ts";
import { singleFlight } from "./single-flight.ts";
import { ambiguous, noSubscription, notLookedUp, unknownInstance } from "./subscription-errors.ts";

/** Subscriptions that a run was told: one for everything, and those of single tiers, which win. */
export interface ToldSubscriptions {
  readonly subscriptionId?: string;
  readonly subscriptions?: { readonly [tier: string]: string };
}

export interface SubscriptionOptions extends ToldSubscriptions {
  readonly profile: Profile;
  /** Sends a request that names no subscription. */
  readonly read: (call: Call) => Promise<Answer>;
}

/** The subscription of each request. */
export interface Subscriptions {
  /** The subscription that a call belongs to; undefined where none is known and the service does without. */
  of(call: Call, endpoint: Endpoint): Promise<string | undefined> | string | undefined;
  /** Remembers whose an object is, from the answer to a call about it. */
  noted(call: Call, answer: Answer, subscription: string | undefined): void;
  /** Those of every tier that has one, told or looked up. Throws `subscription-ambiguous` for a needed tier with several. */
  byTier(needed: readonly string[]): Promise<{ readonly [tier: string]: string }>;
}

/**
 * Finds the subscription of each request. Where the profile has one for each tier, those that nobody told are looked up once:
 * plans give a tier's id, and the active subscription of that id is taken. A database user belongs to the subscription of its
 * database, which is known from the requests about that, and asked for where there was none.
 */
export function createSubscriptions(options: SubscriptionOptions): Subscriptions {
  const { profile, subscriptionId, subscriptions: told = {}, read } = options;
  const isPerTier = profile.subscriptions === "per-tier";
  const ofInstance = new Map<string, string>();
  let lookedUp: ReadonlyMap<string, readonly string[]> | undefined;
  let listed: ReadonlyMap<string, string> | undefined;

  const lookUp = singleFlight(async () => {
    lookedUp ??= await planSubscriptions(read);
    return lookedUp;
  });
  const listOnce = singleFlight(async () => {
    listed ??= await instanceSubscriptions(profile, read, (tier) => ofTier(tier));
    return listed;
  });
  const candidates = async (key: string): Promise<readonly string[]> => {
    if (subscriptionId !== undefined) return [subscriptionId];
    return isPerTier ? ((lookedUp ?? (await lookUp())).get(key) ?? []) : [];
  };
  const ofPlan = async (key: string): Promise<string | undefined> => {
    const ids = await candidates(key);
    if (ids.length > 1) throw ambiguous(nameOf(profile, key), ids);
    return ids[0];
  };
  const keyOf = (tier: string): string => own(profile.tiers, tier)?.productTierKey ?? "";
  const ofTier = async (tier: string): Promise<string | undefined> =>
    own(told, tier) ?? (await ofPlan(keyOf(tier)));

  const ofObject = async (call: Call, id: string): Promise<string | undefined> => {
    const known = ofInstance.get(id);
    if (known !== undefined) return known;
    const found = (listed ?? (await listOnce())).get(id) ?? subscriptionId;
    if (found === undefined && call.operation.startsWith("user.")) throw unknownInstance(call, id);
    return found;
  };

  const find = async (call: Call): Promise<string | undefined> => {
    const { productTierKey, instanceId = call.body?.["instanceId"] } = call.params;
    const tier = tierOf(call, profile);
    const found =
      tier === undefined
        ? productTierKey === undefined
          ? typeof instanceId === "string"
            ? await ofObject(call, instanceId)
            : subscriptionId
          : await ofPlan(productTierKey)
        : await ofTier(tier);
    if (found === undefined && isPerTier && call.operation.endsWith(".create"))
      throw noSubscription(call.operation, tier ?? productTierKey ?? "its plan");
    return found;
  };

  return {
    of(call, endpoint) {
      if (!isAbout(endpoint)) return undefined;
      return isPerTier || Object.keys(told).length > 0 ? find(call) : subscriptionId;
    },
    noted({ operation, params }, { values }, subscription) {
      if (!operation.startsWith("instance.")) return;
      const shown = operation === "instance.describe" ? values["subscriptionId"] : undefined;
      const id = operation === "instance.create" ? values["id"] : params["id"];
      const whose = subscriptionId ?? (typeof shown === "string" ? shown : subscription);
      if (id !== undefined && whose !== undefined) ofInstance.set(String(id), whose);
    },
    async byTier(needed) {
      for (const tier of needed) await ofTier(tier);
      const found = await Promise.all(
        Object.keys(profile.tiers).map(async (tier): Promise<readonly [string, readonly string[]]> => {
          const id = own(told, tier);
          return [tier, id === undefined ? await candidates(keyOf(tier)) : [id]];
        }),
      );
      // A tier with several is asked about once something is to be done there.
      return Object.fromEntries(
        found.flatMap(([tier, [id, ...more]]) => (id && more.length === 0 ? [[tier, id]] : [])),
      );
    },
  };
}

/** True for a request that can name a subscription. */
function isAbout({ path, query }: Endpoint): boolean {
  return [path, ...Object.values(query)].some((text) => text.includes("{subscriptionId}"));
}

/** The tier of a call: what it says, or whose keys are in its path. */
function tierOf({ params }: Call, { tiers }: Profile): string | undefined {
  if (params["tier"] !== undefined) return params["tier"];
  const found = Object.entries(tiers).find(
    ([, keys]) =>
      keys.productTierKey === params["productTierKey"] && keys.serviceModelKey === params["serviceModelKey"],
  );
  return found?.[0];
}

/** The subscriptions to each plan, by the plan's key in paths: one where it is clear which one is meant. */
async function planSubscriptions(
  read: SubscriptionOptions["read"],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const operations = ["plans.list", "subscriptions.list"] as const;
  const [plans, list] = await Promise.all(
    operations.map(async (operation) => {
      try {
        return await read({ operation, params: {} });
      } catch (error) {
        throw isServiceError(error) ? notLookedUp(error) : error;
      }
    }),
  );
  const items = list?.values["items"];
  const active = (Array.isArray(items) ? items : []).filter(isObject).filter(isActive);
  const found = planEntries(plans?.body ?? null).flatMap(({ productTierId, productTierKey }) => {
    const own_ = active.filter((entry) => entry["plan"] === productTierId && productTierId !== "");
    const ids = [...new Set(preferred(own_).map((entry) => String(entry["id"])))];
    return ids.length === 0 ? [] : [[productTierKey, ids] as const];
  });
  return new Map(found);
}

type Entry = { readonly [name: string]: Json };

function isActive(entry: Entry): boolean {
  const { id, status } = entry;
  return (
    typeof id === "string" && id !== "" && (typeof status !== "string" || status.toUpperCase() === "ACTIVE")
  );
}

/** One's own before those that one was invited to, and of these the default one. */
function preferred(entries: readonly Entry[]): readonly Entry[] {
  const own_ = entries.filter((entry) => entry["role"] === "root");
  const candidates = own_.length > 0 ? own_ : entries;
  const standard = candidates.filter((entry) => entry["isDefault"] === true);
  return standard.length > 0 ? standard : candidates;
}

/** The subscription of every instance: in one answer where the profile has it, otherwise from the list of each component. */
async function instanceSubscriptions(
  profile: Profile,
  read: SubscriptionOptions["read"],
  ofTier: (tier: string) => Promise<string | undefined>,
): Promise<ReadonlyMap<string, string>> {
  if (profile.operations["instance.list-all"] === undefined) return listedOneByOne(profile, read, ofTier);
  const { items } = (await read({ operation: "instance.list-all", params: {} })).values;
  const found = (Array.isArray(items) ? items : []).filter(isObject).flatMap((item): [string, string][] => {
    const { id, subscriptionId } = item;
    return typeof id === "string" && typeof subscriptionId === "string" && subscriptionId !== ""
      ? [[id, subscriptionId]]
      : [];
  });
  return new Map(found);
}

async function listedOneByOne(
  { tiers }: Profile,
  read: SubscriptionOptions["read"],
  ofTier: (tier: string) => Promise<string | undefined>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const [tier, { serviceModelKey, productTierKey, components }] of Object.entries(tiers)) {
    const subscription = await ofTier(tier);
    if (subscription === undefined) continue;
    for (const resourceKey of Object.values(components)) {
      const params = { serviceModelKey, productTierKey, resourceKey };
      const { ids } = (await read({ operation: "instance.list", params })).values;
      for (const id of Array.isArray(ids) ? ids : []) found.set(String(id), subscription);
    }
  }
  return found;
}

function nameOf({ tiers }: Profile, productTierKey: string): string {
  return (
    Object.entries(tiers).find(([, keys]) => keys.productTierKey === productTierKey)?.[0] ?? productTierKey
  );
}
