/** @module Finds the subscription of each request. */
import { GraphformError, isGraphformError, isServiceError, ServiceError } from "../../model/errors.ts";
import { isObject, own } from "../../model/json.ts";
import type { Endpoint, Profile } from "../../model/profile.ts";
import type { Answer, Call } from "../../model/service.ts";
import { singleFlight } from "../session/single-flight.ts";
import {
  type Attempt,
  attempt,
  idsOfAll,
  type LookedUp,
  lookUpSubscriptions,
} from "./look-up-subscriptions.ts";

/** Subscriptions from options or manifest: one for everything, and those of single tiers, which win. */
export interface GivenSubscriptions {
  readonly subscriptionId?: string;
  readonly subscriptions?: { readonly [tier: string]: string };
}

/** Options of `createSubscriptions`. */
export interface SubscriptionOptions extends GivenSubscriptions {
  readonly profile: Profile;
  /** Sends a request of the look-up itself: it names the subscription of its parameters, or none. */
  readonly read: (call: Call) => Promise<Answer>;
}

/** Looks up and remembers subscriptions. */
export interface Subscriptions {
  /** The subscription that a call belongs to; undefined if none is known and the service does without. */
  of(call: Call, endpoint: Endpoint): Promise<string | undefined> | string | undefined;
  /** Remembers the subscription of an object, from the answer to a call about it. */
  remember(call: Call, answer: Answer, subscription: string | undefined): void;
  /**
   * Those of every tier that has one, given or looked up. Throws `subscription-ambiguous` for a needed tier with several, and
   * the error of a refused look-up if a needed tier has none.
   */
  byTier(needed: readonly string[]): Promise<{ readonly [tier: string]: string }>;
  /** All that the account can see; empty if the service lists none, or only a part. */
  all(): Promise<readonly string[]>;
}

/**
 * Looks up missing subscriptions once, if the profile has one for each tier.
 * A database user belongs to the subscription of its database, which is known from the requests about that, and asked for
 * if there was none.
 */
export function createSubscriptions(options: SubscriptionOptions): Subscriptions {
  const { profile, subscriptionId, subscriptions: given = {}, read } = options;
  const isPerTier = profile.subscriptions === "per-tier";
  const ofInstance = new Map<string, string>();
  let lookedUp: LookedUp | undefined;
  let listed: ReadonlyMap<string, string> | undefined;
  let eachListed: ReadonlyMap<string, string> | undefined;

  let everyOne: Attempt | undefined;
  const listAll = singleFlight(async () => {
    everyOne ??= await attempt(read, "subscriptions.list");
    return everyOne;
  });
  const lookUp = singleFlight(async () => {
    lookedUp ??= await lookUpSubscriptions(profile, read, given, listAll);
    return lookedUp;
  });
  const listOnce = singleFlight(async () => {
    listed ??= await shownSubscriptions(profile, read);
    return listed;
  });
  const listEachOnce = singleFlight(async () => {
    eachListed ??= await listedOneByOne(profile, read, (tier) => ofTier(tier));
    return eachListed;
  });
  const candidates = async (key: string): Promise<readonly string[]> => {
    if (subscriptionId !== undefined) return [subscriptionId];
    return isPerTier ? ((lookedUp ?? (await lookUp())).byPlan.get(key) ?? []) : [];
  };
  const ofPlan = async (key: string): Promise<string | undefined> => {
    const ids = await candidates(key);
    if (ids.length > 1) throw ambiguous(nameOf(profile, key), ids);
    return ids[0];
  };
  const keyOf = (tier: string): string => own(profile.tiers, tier)?.productTierKey ?? "";
  const ofTier = async (tier: string): Promise<string | undefined> =>
    own(given, tier) ?? (await ofPlan(keyOf(tier)));

  const ofObject = async (call: Call, id: string): Promise<string | undefined> => {
    const known = ofInstance.get(id);
    if (known !== undefined) return known;
    const found =
      (listed ?? (await listOnce())).get(id) ??
      (eachListed ?? (await listEachOnce())).get(id) ??
      subscriptionId;
    if (found === undefined && call.operation.startsWith("user.")) throw unknownInstance(call, id);
    return found;
  };

  const find = async (call: Call): Promise<string | undefined> => {
    const { productTierKey, subscriptionId: asked, instanceId = call.body?.["instanceId"] } = call.params;
    if (asked !== undefined) return asked === "" ? undefined : asked;
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
      return isPerTier || Object.keys(given).length > 0 ? find(call) : subscriptionId;
    },
    remember({ operation, params }, { values }, subscription) {
      if (!operation.startsWith("instance.")) return;
      const shown = operation === "instance.describe" ? values["subscriptionId"] : undefined;
      const id = operation === "instance.create" ? values["id"] : params["id"];
      const owner = subscriptionId ?? (typeof shown === "string" ? shown : subscription);
      if (id !== undefined && owner !== undefined) ofInstance.set(String(id), owner);
    },
    async all() {
      return profile.operations["subscriptions.list"] === undefined ? [] : idsOfAll(await listAll());
    },
    async byTier(needed) {
      const isKnown = await Promise.all(needed.map(async (tier) => (await ofTier(tier)) !== undefined));
      const found = await Promise.all(
        Object.keys(profile.tiers).map(async (tier): Promise<readonly [string, readonly string[]]> => {
          const id = own(given, tier);
          return [tier, id === undefined ? await candidates(keyOf(tier)) : [id]];
        }),
      );
      const isLacking = isKnown.includes(false) || found.every(([, ids]) => ids.length === 0);
      if (isLacking && lookedUp?.trouble !== undefined) throw lookedUp.trouble;
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

/** The tier of a call: its own parameter, otherwise the tier with the keys of its path. */
function tierOf({ params }: Call, { tiers }: Profile): string | undefined {
  if (params["tier"] !== undefined) return params["tier"];
  const found = Object.entries(tiers).find(
    ([, keys]) =>
      keys.productTierKey === params["productTierKey"] && keys.serviceModelKey === params["serviceModelKey"],
  );
  return found?.[0];
}

/** The subscription that each instance shows, if the profile has one answer for all of them. */
async function shownSubscriptions(
  { operations }: Profile,
  read: SubscriptionOptions["read"],
): Promise<ReadonlyMap<string, string>> {
  if (operations["instance.list-all"] === undefined) return new Map();
  const answer = await read({ operation: "instance.list-all", params: {} }).catch(noAnswer);
  const items = answer?.values["items"];
  const found = (Array.isArray(items) ? items : []).filter(isObject).flatMap((item): [string, string][] => {
    const { id, subscriptionId } = item;
    return typeof id === "string" && typeof subscriptionId === "string" && subscriptionId !== ""
      ? [[id, subscriptionId]]
      : [];
  });
  return new Map(found);
}

/** Instance id -> subscription, from the list of each component; a refused list counts as empty. */
async function listedOneByOne(
  { tiers }: Profile,
  read: SubscriptionOptions["read"],
  ofTier: (tier: string) => Promise<string | undefined>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const [tier, { serviceModelKey, productTierKey, components }] of Object.entries(tiers)) {
    const subscription = await ofTier(tier).catch(noAnswer);
    if (subscription === undefined) continue;
    for (const resourceKey of Object.values(components)) {
      const params = { serviceModelKey, productTierKey, resourceKey, subscriptionId: subscription };
      const ids = (await read({ operation: "instance.list", params }).catch(noAnswer))?.values["ids"];
      for (const id of Array.isArray(ids) ? ids : []) found.set(String(id), subscription);
    }
  }
  return found;
}

/** Returns undefined for a refused request; rethrows errors that end the run. */
function noAnswer(error: unknown): undefined {
  if (isServiceError(error) ? error.failure === "aborted" || !error.wasSent : !isGraphformError(error))
    throw error;
}

function nameOf({ tiers }: Profile, productTierKey: string): string {
  return (
    Object.entries(tiers).find(([, keys]) => keys.productTierKey === productTierKey)?.[0] ?? productTierKey
  );
}

/** A tier has several subscriptions, and none is chosen. */
function ambiguous(tier: string, ids: readonly string[]): GraphformError {
  return new GraphformError(
    "subscription-ambiguous",
    `the ${tier} tier has ${ids.length} active subscriptions: ${ids.slice(0, 5).join(", ")}`,
    { hint: `name one: service.subscriptions.${tier}` },
  );
}

/** A create in a tier without a subscription. */
function noSubscription(operation: string, tier: string): ServiceError {
  return new ServiceError("invalid", operation, `${operation}: there is no active subscription to ${tier}`, {
    wasSent: false,
    hint: noSubscriptionHint(tier),
  });
}

/** The hint if a tier has no subscription. */
export function noSubscriptionHint(tier: string): string {
  return `subscribe to the plan at the service, or name a subscription: service.subscriptions.${tier}, GRAPHFORM_SUBSCRIPTION_ID or --subscription`;
}

/** The service shows no subscription of an instance. */
function unknownInstance({ operation }: Call, id: string): ServiceError {
  return new ServiceError("invalid", operation, `${operation}: the service shows no subscription of ${id}`, {
    wasSent: false,
    hint: "name the subscription: service.subscriptions or --subscription",
  });
}
