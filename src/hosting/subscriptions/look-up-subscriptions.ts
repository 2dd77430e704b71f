/** @module Looks up the subscriptions to the profile's plans: in the service's catalogue, otherwise by its objects. */
import { isServiceError, ServiceError } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import type { Profile } from "../../model/profile.ts";
import type { Answer, Call } from "../../model/service.ts";
import { type PlanEntry, planEntries } from "../plan-catalogue.ts";
import { mayBeMore } from "../wire/pages.ts";
import { inferSubscriptions } from "./infer-subscriptions.ts";
import { notLookedUp } from "./subscription-errors.ts";

/** The subscriptions to each plan, by the plan's key in paths. */
export interface LookedUp {
  readonly byPlan: ReadonlyMap<string, readonly string[]>;
  /** The error because of which a missing plan may have a subscription. */
  readonly trouble?: ServiceError;
}

type Read = (call: Call) => Promise<Answer>;

/**
 * The subscriptions to each plan of the profile: one where it is clear which one is meant. The catalogue gives the id of a plan,
 * and the active subscriptions to that id are taken; where either list cannot be read, they are inferred from the objects that exist. Tiers in `given` are not inferred.
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

/** The ids of a list of subscriptions, inactive ones too; none where the service does not show all of them. */
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
