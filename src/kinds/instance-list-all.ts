/** @module Reads every instance of an account from one list, with the place of each. */
import { accountResource, type PlanEntry, planEntries } from "../hosting/plan-catalogue.ts";
import { type Attempt, attempt, mayBeMore, type Read } from "../hosting/wire/read-answer.ts";
import { answerValues, type Values } from "../hosting/wire/spelling.ts";
import { isServiceError } from "../model/errors.ts";
import { defined, isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Everything, LeftOut } from "../model/kind.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Profile, Reads } from "../model/service.ts";

/** Every instance that the user can see, its tier and component by the service's plans; undefined without such a list. */
export async function listAllInstances(
  service: Reads,
  live: (ref: Ref, values: Values) => Live,
  signal: AbortSignal,
): Promise<Everything | undefined> {
  const { profile } = service;
  if (!service.offers("instance.list-all") || !service.offers("plans.list")) return undefined;
  const read: Read = (call) => service.read(call, signal);
  const [catalogue, list] = await Promise.all([
    attempt(read, { operation: "plans.list", params: {} }),
    attempt(read, { operation: "instance.list-all", params: {} }),
  ]);
  const plans = isServiceError(catalogue) ? [] : planEntries(catalogue.body);
  const listed = everyEntry(list);
  const names = profile.operations["instance.describe"]?.answer ?? {};
  const items = listed.items.filter(isObject);
  const entries = items.flatMap((item) => {
    const { resourceId, ...shown } = answerValues(item, names);
    const id = item["id"];
    const resource = typeof resourceId === "string" ? resourceId : "";
    return typeof id !== "string" || id === "" || resource.startsWith(accountResource)
      ? []
      : [{ id, resource, shown }];
  });
  const [leftOut, unplaced]: [LeftOut[], LeftOut[]] = [[], []];
  const found = entries.flatMap(({ id, resource, shown }) => {
    const place = placeOf(resource, plans, profile);
    if (place === undefined) {
      const others = resource === "" || plans.length === 0 ? unplaced : leftOut;
      others.push({ what: id, reason: unknownPlace(resource, plans, profile) });
      return [];
    }
    const subscription = shown["subscriptionId"];
    const owner = typeof subscription === "string" ? { subscription } : {};
    return [{ place, live: live({ id, place }, shown), ...owner }];
  });
  const { doubt } = listed;
  const isWhole = doubt === undefined && entries.length > 0;
  return { found, leftOut, unplaced, isWhole, ...defined({ doubt }) };
}

/** The entries of the list, and the reason why it may not be all; none if it is refused or holds no list. */
function everyEntry(list: Attempt): { readonly items: readonly Json[]; readonly doubt?: string } {
  if (isServiceError(list)) return { items: [], doubt: list.message };
  const { items } = list.values;
  if (!Array.isArray(items)) return { items: [], doubt: "its answer holds no list" };
  return {
    items,
    ...(mayBeMore(list.values) ? { doubt: "the service has possibly more than it lists" } : {}),
  };
}

function planOf(resource: string, plans: readonly PlanEntry[]): { plan?: PlanEntry; key?: string } {
  const all = plans.flatMap((plan) => plan.resources.map(({ id, key }) => ({ plan, id, key })));
  return all.find(({ id }) => id === resource) ?? {};
}

function placeOf(resource: string, plans: readonly PlanEntry[], { tiers }: Profile): JsonObject | undefined {
  const { plan, key } = planOf(resource, plans);
  const [tier, keys] =
    Object.entries(tiers).find(
      ([, { serviceModelKey, productTierKey }]) =>
        serviceModelKey === plan?.serviceModelKey && productTierKey === plan.productTierKey,
    ) ?? [];
  const component = Object.keys(keys?.components ?? {}).find((name) => keys?.components[name] === key);
  return tier === undefined || component === undefined ? undefined : { tier, component };
}

function unknownPlace(resource: string, plans: readonly PlanEntry[], { name }: Profile): string {
  const { plan, key } = planOf(resource, plans);
  if (plans.length === 0) return "the service shows no plans, and no component of the profile lists it";
  if (plan !== undefined)
    return `the profile ${name} has no component for "${key}" of the plan ${plan.productTierKey}`;
  return resource === ""
    ? "it shows no resource, and no component of the profile lists it"
    : `no plan of the service has its resource "${resource}"`;
}
