import type { JsonObject } from "../../model/json.ts";
import type { Component, Plan } from "../model/plans.ts";

/** The service profiles that the platform can speak as. */
export const dialectNames = ["default", "falkordb-cloud"] as const;

export type DialectName = (typeof dialectNames)[number];

/**
 * The wire of one service profile: data by which the routes read requests and write answers. The platform's own model, in records
 * and rules, has the words of the default profile.
 */
export interface Dialect {
  readonly name: DialectName;
  /** Fixed segments of component paths. */
  readonly provider: string;
  readonly service: string;
  readonly cookies: { readonly session: string; readonly refresh: string };
  /** Sign-in answers a refresh token beside the session's. */
  readonly hasRefreshTokens: boolean;
  /** Plans under the keys that paths carry. */
  readonly plans: readonly Plan[];
  readonly params: ParamWords;
  readonly updateMethods: readonly string[];
  /** Keys of the bodies of failover and of an instance's copy-snapshot; the first one of each that stands is read. */
  readonly failover: { readonly node: readonly string[]; readonly action: readonly string[] };
  readonly copy: { readonly region: readonly string[]; readonly source: readonly string[] };
  readonly describe: DescribeWords;
  readonly snapshots: SnapshotWords;
  /** Each plan has a subscription of its own, and takes no other. */
  readonly hasPlanSubscriptions: boolean;
  /** Offerings have the keys of specification 2.6 beside the API's own. */
  readonly hasSpecifiedPlanKeys: boolean;
  /** The service answers which parameters a component takes. */
  readonly hasParameterSchema: boolean;
  /** Settings where nobody asks for others. */
  readonly settings: {
    readonly echo: boolean;
    readonly networks: "full" | "adopt-only";
    readonly pageSize: number;
  };
}

/** What stands inside requestParams, and how it is written. */
export interface ParamWords {
  /** The dialect's spelling of the platform's own names, where it differs. */
  readonly fields: { readonly [own: string]: string };
  /** Own names of fields that no plan has. */
  readonly absent: readonly string[];
  /** Tiers that refuse a create without the field. */
  readonly required: { readonly [own: string]: readonly string[] };
  /** Values of fields that a create leaves out. */
  readonly defaults: JsonObject;
}

/** How an instance is shown. */
export interface DescribeWords {
  /** `custom_network` with the id, or an object of id, name and address range. */
  readonly network: "custom_network" | "customNetworkDetail";
  readonly modifiedAt: string;
  /** result_params has the database's host and port. */
  readonly hasEndpointInParams: boolean;
  readonly hasRoles: boolean;
  /** Metadata, tags, subscription and version stand in every answer, and not with `echo` alone. */
  readonly isComplete: boolean;
}

/** How snapshots are made and shown. */
export interface SnapshotWords {
  /** An instance has a backup operation of its own. */
  readonly hasBackup: boolean;
  /** The dialect's spelling of the platform's own statuses, where it differs. */
  readonly statuses: { readonly [own: string]: string };
  /** Key of the new snapshot's id in the answer to an instance's copy-snapshot. */
  readonly copyAnswer: readonly string[];
  /** A list of none is an empty object. */
  readonly omitsEmptyList: boolean;
}

/** A plan and one of its components, as a path names them. */
export interface Located {
  readonly plan: Plan;
  readonly component: Component;
  readonly isAccount: boolean;
}

/** The component that the three keys of a path name; undefined where there is none. */
export function findComponent(
  { plans }: Dialect,
  keys: { readonly model: string; readonly tier: string; readonly resource: string },
  isNamed: (component: Component, resource: string) => boolean = ({ key }, resource) => key === resource,
): Located | undefined {
  const plan = plans.find(({ modelKey, tierKey }) => modelKey === keys.model && tierKey === keys.tier);
  if (plan === undefined) return undefined;
  if (plan.account?.key === keys.resource) return { plan, component: plan.account, isAccount: true };
  const component = plan.components.find((candidate) => isNamed(candidate, keys.resource));
  return component === undefined ? undefined : { plan, component, isAccount: false };
}

/** The plan and the component that an instance or a snapshot is of; undefined where no plan has it. */
export function placeIn(
  { plans }: Dialect,
  of: { readonly tier: string; readonly component: string },
): Located | undefined {
  const plan = plans.find(({ tier }) => tier === of.tier);
  const component = plan?.components.find(({ id }) => id === of.component);
  return plan === undefined || component === undefined ? undefined : { plan, component, isAccount: false };
}

/** The id of the subscription that this platform's user has to a plan. */
export function subscriptionOf(plan: { readonly tier: string }): string {
  return `sub-${plan.tier}`;
}
