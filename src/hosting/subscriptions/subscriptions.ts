/** @module Finds the subscription of each request. */
import { GraphformError, isGraphformError, isServiceError, ServiceError } from "../../model/errors.ts";
import { own } from "../../model/json.ts";
import type { ServiceSection } from "../../model/manifest.ts";
import { memoizeAsync } from "../../model/once.ts";
import type { Answer, Call, Endpoint, Profile } from "../../model/service.ts";
import { attempt, type Read } from "../wire/read-answer.ts";
import {
  componentsOf,
  everyObject,
  idsOfAll,
  type LookedUp,
  listedIds,
  lookUpSubscriptions,
} from "./look-up-subscriptions.ts";

/** Subscriptions from options or manifest: one for everything, and those of single tiers, which win. */
export type GivenSubscriptions = Pick<ServiceSection, "subscriptionId" | "subscriptions">;

export interface SubscriptionOptions extends GivenSubscriptions {
  readonly profile: Profile;
  /** Sends a request of the look-up itself: it names the subscription of its parameters, or none. */
  readonly read: Read;
}

/** Looks up missing subscriptions once. That of a database user is known from requests about its database, or asked for. */
export function createSubscriptions(options: SubscriptionOptions) {
  const { profile, subscriptionId, subscriptions: given = {}, read } = options;
  const isPerTier = profile.subscriptions === "per-tier";
  const isAsked = isPerTier || Object.keys(given).length > 0;
  const ofInstance = new Map<string, string>();
  let lookedUp: LookedUp | undefined;

  const list = memoizeAsync(() => attempt(read, { operation: "subscriptions.list", params: {} }));
  const objects = memoizeAsync(() => everyObject(profile, read));
  const lookUp = memoizeAsync(async () => {
    lookedUp = await lookUpSubscriptions(profile, { read, subscriptions: list, objects }, given);
    return lookedUp;
  });
  const eachListed = memoizeAsync(() => listedOneByOne(profile, read, (tier) => ofTier(tier)));
  const candidates = async (key: string): Promise<readonly string[]> => {
    if (subscriptionId !== undefined) return [subscriptionId];
    return isPerTier ? ((await lookUp()).byPlan.get(key) ?? []) : [];
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
    const shown = (await objects())?.find((object) => object.id === id)?.subscription;
    const found = shown ?? (await eachListed()).get(id) ?? subscriptionId;
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
    /** The subscription that a call belongs to; undefined if none is known and the service does without. */
    of(call: Call, endpoint: Endpoint): Promise<string | undefined> | string | undefined {
      const texts = [endpoint.path, ...Object.values(endpoint.query)];
      if (!texts.some((text) => text.includes("{subscriptionId}"))) return undefined;
      return isAsked ? find(call) : subscriptionId;
    },
    /** Remembers the subscription of an object, from the answer to a call about it. */
    remember({ operation, params }: Call, { values }: Answer, subscription: string | undefined): void {
      if (!isAsked || !operation.startsWith("instance.")) return;
      const shown = operation === "instance.describe" ? values["subscriptionId"] : undefined;
      const id = operation === "instance.create" ? values["id"] : params["id"];
      const owner = subscriptionId ?? (typeof shown === "string" ? shown : subscription);
      if (id !== undefined && owner !== undefined) ofInstance.set(String(id), owner);
    },
    /** All that the account can see; empty if the service lists none, or only a part. */
    async all(): Promise<readonly string[]> {
      return profile.operations["subscriptions.list"] === undefined ? [] : idsOfAll(await list());
    },
    /** Throws `subscription-ambiguous` for a needed tier with several, and a refused look-up's error for one that has none. */
    async byTier(needed: readonly string[]): Promise<{ readonly [tier: string]: string }> {
      const isKnown = await Promise.all(needed.map(async (tier) => (await ofTier(tier)) !== undefined));
      const found = await Promise.all(
        Object.keys(profile.tiers).map(async (tier): Promise<readonly [string, readonly string[]]> => {
          const id = own(given, tier);
          return [tier, id === undefined ? await candidates(keyOf(tier)) : [id]];
        }),
      );
      const isLacking = isKnown.includes(false) || found.every(([, ids]) => ids.length === 0);
      if (isLacking && lookedUp?.trouble !== undefined) throw lookedUp.trouble;
      // A tier with several subscriptions is asked about when a change is planned there.
      return Object.fromEntries(
        found.flatMap(([tier, [id, ...more]]) => (id && more.length === 0 ? [[tier, id]] : [])),
      );
    },
  };
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

/** Instance id -> subscription, from the list of each component; a refused list counts as empty. */
async function listedOneByOne(
  { tiers }: Profile,
  read: Read,
  ofTier: (tier: string) => Promise<string | undefined>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const [tier, keys] of Object.entries(tiers)) {
    const subscription = await ofTier(tier).catch(noAnswer);
    if (subscription === undefined) continue;
    for (const params of componentsOf(keys, subscription))
      for (const id of await listedIds(read, params)) found.set(id, subscription);
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

function ambiguous(tier: string, ids: readonly string[]): GraphformError {
  return new GraphformError(
    "subscription-ambiguous",
    `the ${tier} tier has ${ids.length} active subscriptions: ${ids.slice(0, 5).join(", ")}`,
    { hint: `name one: service.subscriptions.${tier}` },
  );
}

function noSubscription(operation: string, tier: string): ServiceError {
  return new ServiceError("invalid", operation, `${operation}: there is no active subscription to ${tier}`, {
    wasSent: false,
    hint: noSubscriptionHint(tier),
  });
}

export function noSubscriptionHint(tier: string): string {
  return `subscribe to the plan at the service, or name a subscription: service.subscriptions.${tier}, GRAPHFORM_SUBSCRIPTION_ID or --subscription`;
}

function unknownInstance({ operation }: Call, id: string): ServiceError {
  return new ServiceError("invalid", operation, `${operation}: the service shows no subscription of ${id}`, {
    wasSent: false,
    hint: "name the subscription: service.subscriptions or --subscription",
  });
}
