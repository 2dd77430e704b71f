/** @module Finds the plan, component and instance that a request's path names. */
import type { Context } from "hono";
import type { Place } from "../../control/validate.ts";
import type { Core } from "../../core.ts";
import { findComponent, type Located, subscriptionOf } from "../../dialect/dialect.ts";
import type { InstanceRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import type { Env } from "../exchange.ts";
import { pathParam } from "./router.ts";

/** The component of a path; 404 where no plan has it, 403 for the subscription of another plan. */
export function locateComponent(core: Core, context: Context<Env>): Located {
  return located(core, context, findComponent(core.dialect, keysOf(context)));
}

/** The component of a failover's path, which may also name the resource of its nodes, depending on `failoverPath`. */
export function locateNodes(core: Core, context: Context<Env>): Located {
  const { failoverPath } = core.settings;
  const found = findComponent(core.dialect, keysOf(context), ({ key, resources }, asked) => {
    const isOfNodes = resources.some((resource) => resource.part === "database" && resource.key === asked);
    return (failoverPath !== "node" && key === asked) || (failoverPath !== "component" && isOfNodes);
  });
  return located(core, context, found);
}

/** Refuses (403) the subscription of another plan, where each plan has its own. */
export function checkSubscription(core: Core, context: Context<Env>, tier: string | undefined): void {
  const asked = context.req.query("subscriptionId") ?? "";
  if (!core.dialect.hasPlanSubscriptions || asked === "" || tier === undefined) return;
  if (asked === subscriptionOf({ tier })) return;
  throw new ServiceError(403, `subscription ${asked} is not one to the plan of tier ${tier}`);
}

/** The subscription of a new object; undefined where the request names none and plans have none of their own. */
export function subscriptionFor(core: Core, context: Context<Env>, tier: string): string | undefined {
  const own = core.dialect.hasPlanSubscriptions ? subscriptionOf({ tier }) : undefined;
  const asked = context.req.query("subscriptionId");
  return asked === "" ? own : (asked ?? own);
}

function keysOf(context: Context<Env>): Parameters<typeof findComponent>[1] {
  return {
    model: pathParam(context, "model"),
    tier: pathParam(context, "tier"),
    resource: pathParam(context, "resource"),
  };
}

function located(core: Core, context: Context<Env>, found: Located | undefined): Located {
  const { model, tier, resource } = keysOf(context);
  if (found === undefined) throw new ServiceError(404, `no service plan has ${model}/${tier}/${resource}`);
  checkSubscription(core, context, found.plan.tier);
  return found;
}

/** The instance of a path; 404 for an unknown id or one of another component. */
export function instanceOf(
  core: Core,
  context: Context<Env>,
  { plan, component }: Located = locateComponent(core, context),
): InstanceRecord {
  const id = pathParam(context, "id");
  const record = core.store.instances.get(id);
  if (record === undefined || record.tier !== plan.tier || record.component !== component.id) {
    throw new ServiceError(404, `instance ${id} not found`);
  }
  return record;
}

/** The database instance of a path; 400 for a cloud account. */
export function databaseOf(core: Core, context: Context<Env>): InstanceRecord {
  const record = instanceOf(core, context);
  if (!record.isAccount) return record;
  throw new ServiceError(400, `${record.id} is a cloud account and has no such operation`);
}

/** Tier, component and instance types of an instance, for validation. */
export function placeOf(core: Core, record: InstanceRecord): Place {
  return { tier: record.tier, component: record.component, instanceTypes: core.instanceTypes };
}

/** False for an instance that a list omits: of another subscription, or hidden by a fault. */
export function isVisible(core: Core, context: Context<Env>, record: InstanceRecord): boolean {
  // Where plans have their own subscriptions, a path implies one, and the list of all plans takes none.
  const asked = core.dialect.hasPlanSubscriptions ? undefined : context.req.query("subscriptionId");
  if (asked !== undefined && record.subscriptionId !== undefined && record.subscriptionId !== asked)
    return false;
  return record.missingUntil === undefined || record.missingUntil <= core.now();
}
