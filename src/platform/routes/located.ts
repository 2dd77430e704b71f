import type { Context } from "hono";
import { type Component, findComponent, type Plan } from "../contract.ts";
import type { Core } from "../core.ts";
import type { Env } from "../exchange.ts";
import type { InstanceRecord } from "../records.ts";
import { ServiceError } from "../service-error.ts";
import type { Place } from "../validate.ts";
import { partOf } from "./router.ts";

/** A plan and one of its components, as a path names them. */
export interface Located {
  readonly plan: Plan;
  readonly component: Component;
  readonly isAccount: boolean;
}

/** The component of a path; 404 where no plan has it. */
export function locateComponent(context: Context<Env>): Located {
  const [model, tier, resource] = [
    partOf(context, "model"),
    partOf(context, "tier"),
    partOf(context, "resource"),
  ];
  const found = findComponent(model, tier, resource);
  if (found === undefined) throw new ServiceError(404, `no service plan has ${model}/${tier}/${resource}`);
  return found;
}

/** The instance of a path; 404 for an unknown id, or one of another component. */
export function instanceOf(
  records: { get(id: string): InstanceRecord | undefined },
  context: Context<Env>,
): InstanceRecord {
  const { plan, component } = locateComponent(context);
  const id = partOf(context, "id");
  const record = records.get(id);
  if (record === undefined || record.tier !== plan.tier || record.component !== component.key) {
    throw new ServiceError(404, `instance ${id} not found`);
  }
  return record;
}

/** What validation needs to know of where an instance is. */
export function placeOf(core: Core, record: InstanceRecord): Place {
  return { tier: record.tier, component: record.component, instanceTypes: core.instanceTypes };
}

/** False for what a list leaves out: of another subscription than asked for, or made to be missing. */
export function isVisible(core: Core, context: Context<Env>, record: InstanceRecord): boolean {
  const asked = context.req.query("subscriptionId");
  if (asked !== undefined && record.subscriptionId !== undefined && record.subscriptionId !== asked)
    return false;
  return record.missingUntil === undefined || record.missingUntil <= core.now();
}
