/** @module Reads every instance of an account from one list, with the place of each. */

import { accountResource, type PlanEntry, planEntries } from "../hosting/plan-catalogue.ts";
import { answerValues } from "../hosting/wire/answer-values.ts";
import { mayBeMore } from "../hosting/wire/read-answer.ts";
import { isServiceError } from "../model/errors.ts";
import { defined, isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Everything, LeftOut } from "../model/kind.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Profile } from "../model/profile.ts";
import type { Reads } from "../model/service.ts";

type Values = { readonly [name: string]: Json };

/**
 * Every instance that the user can see, in one answer, each with its tier and component: the service's plans tell which
 * resource is whose. Those of which they do not tell are unplaced. Undefined if there is no such list.
 */
export async function listAllInstances(
  service: Reads,
  read: (ref: Ref, values: Values) => Live,
  signal: AbortSignal,
): Promise<Everything | undefined> {
  const { profile } = service;
  if (!service.offers("instance.list-all") || !service.offers("plans.list")) return undefined;
  const [plans, listed] = await Promise.all([plansOf(service, signal), everyEntry(service, signal)]);
  const names = profile.operations["instance.describe"]?.answer ?? {};
  const items = listed.items.filter(isObject);
  const entries = items.flatMap((item): readonly Entry[] => {
    const { resourceId, ...shown } = answerValues(item, names);
    const id = item["id"];
    const resource = typeof resourceId === "string" ? resourceId : "";
    return typeof id !== "string" || id === "" || resource.startsWith(accountResource)
      ? []
      : [{ id, resource, shown }];
  });
  const found = entries.flatMap(({ id, resource, shown }) => {
    const place = placeOf(resource, plans, profile);
    if (place === undefined) return [];
    const subscription = shown["subscriptionId"];
    const owner = typeof subscription === "string" ? { subscription } : {};
    return [{ place, live: read({ id, place }, shown), ...owner }];
  });
  const others = entries
    .filter(({ resource }) => placeOf(resource, plans, profile) === undefined)
    .map(({ id, resource }) => ({
      what: id,
      isUnplaced: resource === "" || plans.length === 0,
      reason: unknownPlace(resource, plans, profile),
    }));
  const [leftOut, unplaced] = [false, true].map((isUnplaced) =>
    others
      .filter((entry) => entry.isUnplaced === isUnplaced)
      .map(({ what, reason }): LeftOut => ({ what, reason })),
  );
  const { doubt } = listed;
  return {
    found,
    leftOut: leftOut ?? [],
    unplaced: unplaced ?? [],
    isWhole: doubt === undefined && entries.length > 0,
    ...defined({ doubt }),
  };
}

interface Entry {
  readonly id: string;
  readonly resource: string;
  readonly shown: Values;
}

/** The entries of the list, and why it may not be all; none if it is refused or holds no list. */
async function everyEntry(
  service: Reads,
  signal: AbortSignal,
): Promise<{ readonly items: readonly Json[]; readonly doubt?: string }> {
  try {
    const { values } = await service.read({ operation: "instance.list-all", params: {} }, signal);
    const { items } = values;
    if (!Array.isArray(items)) return { items: [], doubt: "its answer holds no list" };
    return { items, ...(mayBeMore(values) ? { doubt: "the service has possibly more than it lists" } : {}) };
  } catch (error) {
    if (isServiceError(error) && error.failure !== "aborted" && error.wasSent)
      return { items: [], doubt: error.message };
    throw error;
  }
}

async function plansOf(service: Reads, signal: AbortSignal): Promise<readonly PlanEntry[]> {
  try {
    return planEntries((await service.read({ operation: "plans.list", params: {} }, signal)).body);
  } catch (error) {
    if (isServiceError(error) && error.failure !== "aborted" && error.wasSent) return [];
    throw error;
  }
}

function placeOf(resource: string, plans: readonly PlanEntry[], { tiers }: Profile): JsonObject | undefined {
  const plan = plans.find(({ resources }) => resources.some(({ id }) => id === resource));
  const key = plan?.resources.find(({ id }) => id === resource)?.key;
  const tier = Object.entries(tiers).find(
    ([, keys]) =>
      keys.serviceModelKey === plan?.serviceModelKey && keys.productTierKey === plan.productTierKey,
  );
  const component = Object.entries(tier?.[1].components ?? {}).find(([, its]) => its === key);
  return tier === undefined || component === undefined
    ? undefined
    : { tier: tier[0], component: component[0] };
}

function unknownPlace(resource: string, plans: readonly PlanEntry[], { name }: Profile): string {
  const plan = plans.find(({ resources }) => resources.some(({ id }) => id === resource));
  const key = plan?.resources.find(({ id }) => id === resource)?.key;
  if (plans.length === 0) return "the service shows no plans, and no component of the profile lists it";
  if (plan === undefined && resource === "")
    return "it shows no resource, and no component of the profile lists it";
  if (plan === undefined) return `no plan of the service has its resource "${resource}"`;
  return `the profile ${name} has no component for "${key}" of the plan ${plan.productTierKey}`;
}
