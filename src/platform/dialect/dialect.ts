/** @module Describes how a service profile spells requests and answers, finds plans and components by their keys, and translates parameters. */
import { isObject, type Json, type JsonObject, own } from "../../model/json.ts";
import type { Component, Plan } from "../model/plans.ts";
import { ServiceError } from "../model/service-error.ts";

export const dialectNames = ["default", "falkordb-cloud"] as const;

export type DialectName = (typeof dialectNames)[number];

/** Spelling of one service profile, as data for the routes. Records and rules use the spelling of the default profile. */
export interface Dialect {
  readonly name: DialectName;
  /**
   * True for the vendor's API as it runs, false for that of the specification: the vendor's shows all of an instance and no roles, has
   * a subscription for each plan and a schema of parameters, and neither refresh tokens nor the path of a backup.
   */
  readonly isVendors: boolean;
  /** Fixed segments of component paths, after `resource-instance`. */
  readonly provider: string;
  readonly service: string;
  readonly cookies: { readonly session: string; readonly refresh: string };
  readonly plans: readonly Plan[];
  /** Spelling of requestParams, and the rules of a create. */
  readonly params: {
    /** The dialect's spelling by default name, if the two differ. */
    readonly fields: { readonly [own: string]: string };
    /** Default names of fields that no plan has. */
    readonly absent: readonly string[];
    /** Fields that no plan has but clients of the service send: they are accepted and ignored. */
    readonly ignored: readonly string[];
    readonly required: { readonly [own: string]: readonly string[] };
    readonly defaults: JsonObject;
  };
  readonly updateMethods: readonly string[];
  /** Keys in the bodies of failover and of an instance's copy-snapshot; the first key that is present is read. */
  readonly failover: { readonly node: readonly string[]; readonly action: readonly string[] };
  readonly copy: { readonly region: readonly string[]; readonly source: readonly string[] };
  readonly snapshots: {
    /** The dialect's spelling by default status, if the two differ. */
    readonly statuses: { readonly [own: string]: string };
    /** Keys of the new snapshot's id in the answer to an instance's copy-snapshot. */
    readonly copyAnswer: readonly string[];
  };
  readonly settings: {
    readonly echo: boolean;
    readonly networks: "full" | "adopt-only";
    readonly pageSize: number;
  };
}

export interface Located {
  readonly plan: Plan;
  readonly component: Component;
}

export function findComponent(
  { plans }: Dialect,
  keys: { readonly model: string; readonly tier: string; readonly resource: string },
  isNamed: (component: Component, resource: string) => boolean = ({ key }, resource) => key === resource,
): Located | undefined {
  const plan = plans.find(({ modelKey, tierKey }) => modelKey === keys.model && tierKey === keys.tier);
  if (plan === undefined) return undefined;
  if (plan.account?.key === keys.resource) return { plan, component: plan.account };
  const component = plan.components.find((candidate) => isNamed(candidate, keys.resource));
  return component && { plan, component };
}

export function componentOfRecord(
  { plans }: Dialect,
  of: { readonly tier: string; readonly component: string },
): Component | undefined {
  const plan = plans.find(({ tier }) => tier === of.tier);
  return plan?.components.find(({ id }) => id === of.component);
}

/** Id of the local user's subscription to a plan. */
export function subscriptionOf(plan: { readonly tier: string }): string {
  return `sub-${plan.tier}`;
}

/** The body of an update in default names. Refused (400): default names that the dialect spells otherwise, fields of no plan. */
export function ownBody({ params: words }: Pick<Dialect, "params">, body: Json): Json {
  const given = isObject(body) ? body["requestParams"] : undefined;
  if (!isObject(body) || !isObject(given)) return body;
  const ownNames = new Map(Object.entries(words.fields).map(([own, wire]) => [wire, own]));
  const unknown = Object.keys(given).filter(
    (key) => (Object.hasOwn(words.fields, key) && words.fields[key] !== key) || words.absent.includes(key),
  );
  if (unknown.length > 0)
    throw new ServiceError(400, unknown.map((key) => `requestParams.${key} is not known`).join("; "));
  const params = Object.entries(given)
    .filter(([key]) => !words.ignored.includes(key))
    .map(([key, value]): [string, Json] => [ownNames.get(key) ?? key, value]);
  return { ...body, requestParams: Object.fromEntries(params) };
}

/** The body of a create in default names, with the plan's default values; refused (400) if a required field is missing. */
export function ownCreate(dialect: Pick<Dialect, "params">, body: Json, tier: string): Json {
  const translated = ownBody(dialect, body);
  if (!isObject(translated)) return translated;
  const { defaults, required, fields } = dialect.params;
  const given = translated["requestParams"] ?? {};
  if (!isObject(given)) return translated;
  const missing = Object.entries(required).filter(
    ([name, tiers]) => tiers.includes(tier) && !Object.hasOwn(given, name),
  );
  if (missing.length > 0)
    throw new ServiceError(400, missing.map(([name]) => `${fields[name] ?? name} is required`).join("; "));
  return { ...translated, requestParams: { ...defaults, ...given } };
}

export function dialectParams({ params: { fields } }: Pick<Dialect, "params">, own: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(own).map(([key, value]): [string, Json] => [fields[key] ?? key, value]),
  );
}

/** Runs a check of a body in default names; field names in the message of its ServiceError are translated to the dialect's. */
export function checkInDialect<T>({ params: { fields } }: Pick<Dialect, "params">, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const words = error.message.replaceAll(/[A-Za-z]+/g, (word) => own(fields, word) ?? word);
    throw new ServiceError(error.status, words, error.retryAfter);
  }
}
