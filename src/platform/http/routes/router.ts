/** @module Checks sessions, and finds the plan, component and instance that a request's path names. */
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import type { Core } from "../../core.ts";
import { findComponent, type Located, subscriptionOf } from "../../dialect/dialect.ts";
import type { InstanceRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import type { Call, Env } from "../exchange.ts";

/** The user of the session cookie, or of the same token as a bearer token. Throws ServiceError 400 without one, 401 if it is not valid. */
export function requireSession(core: Core, context: Context<Env>): string {
  const token = bearerOf(context) ?? getCookie(context, core.dialect.cookies.session) ?? "";
  if (token === "") throw new ServiceError(400, "token is missing from header or cookie");
  const user = core.sessions.userOf(token);
  if (user === undefined) throw new ServiceError(401, "the session token is invalid or has expired");
  return user;
}

export function bearerOf(context: Context<Env>): string | undefined {
  return /^bearer\s+(\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
}

/** A decoded path parameter; empty if the route has none of that name. */
export function pathParam({ context }: Pick<Call, "context">, name: string): string {
  return context.req.param(name) ?? "";
}

/** The page that the request's token names, at first the first one; `more` has the token of the next page, if there is one. */
export function paged<T>(
  { core, context }: Call,
  all: readonly T[],
): { readonly items: readonly T[]; readonly more: { readonly nextPageToken?: string } } {
  const token = Number(context.req.query("nextPageToken") ?? 0);
  const from = Number.isInteger(token) && token > 0 ? token : 0;
  const end = from + core.settings.pageSize;
  return { items: all.slice(from, end), more: end < all.length ? { nextPageToken: String(end) } : {} };
}

/** The component of a path; 404 if no plan has it, 403 for the subscription of another plan. */
export function locateComponent(call: Call, isNamed?: Parameters<typeof findComponent>[2]): Located {
  const keys = ["model", "tier", "resource"].map((name) => pathParam(call, name));
  const [model = "", tier = "", resource = ""] = keys;
  const found = findComponent(call.core.dialect, { model, tier, resource }, isNamed);
  if (found === undefined) throw new ServiceError(404, `no service plan has ${keys.join("/")}`);
  checkSubscription(call, found.plan.tier);
  return found;
}

/** The component of a failover's path, which may also name the resource of its nodes, depending on `failoverPath`. */
export function locateNodes(call: Call): Located {
  const { failoverPath } = call.core.settings;
  return locateComponent(call, ({ key, resources }, asked) => {
    const isOfNodes = resources.some((resource) => resource.part === "database" && resource.key === asked);
    return (failoverPath !== "node" && key === asked) || (failoverPath !== "component" && isOfNodes);
  });
}

/** Refuses (403) the subscription of another plan, if each plan has its own. */
export function checkSubscription({ core, context }: Call, tier: string | undefined): void {
  const asked = context.req.query("subscriptionId") ?? "";
  if (!core.dialect.isVendors || asked === "" || tier === undefined) return;
  if (asked === subscriptionOf({ tier })) return;
  throw new ServiceError(403, `subscription ${asked} is not one to the plan of tier ${tier}`);
}

/** The subscription of a new object; undefined if the request names none and plans have none of their own. */
export function subscriptionFor({ core, context }: Call, tier: string): string | undefined {
  const own = core.dialect.isVendors ? subscriptionOf({ tier }) : undefined;
  const asked = context.req.query("subscriptionId");
  return asked === "" ? own : (asked ?? own);
}

/** The instance of a path; 404 for an unknown id or one of another component. */
export function instanceOf(call: Call, { plan, component }: Located = locateComponent(call)): InstanceRecord {
  const id = pathParam(call, "id");
  const record = call.core.store.instances.get(id);
  if (record?.tier !== plan.tier || record.component !== component.id)
    throw new ServiceError(404, `instance ${id} not found`);
  return record;
}

/** The instance, if it is a database; 400 for a cloud account. */
export function databaseOf(call: Call, record: InstanceRecord = instanceOf(call)): InstanceRecord {
  if (!record.isAccount) return record;
  throw new ServiceError(400, `${record.id} is a cloud account and has no such operation`);
}

/** False for an instance that a list omits: of another subscription, or hidden by a fault. */
export function isVisible({ core, context }: Call, record: InstanceRecord): boolean {
  // If plans have their own subscriptions, a path implies one, and the list of all plans takes none.
  const asked = core.dialect.isVendors ? undefined : context.req.query("subscriptionId");
  if (asked !== undefined && record.subscriptionId !== undefined && record.subscriptionId !== asked)
    return false;
  return record.missingUntil === undefined || record.missingUntil <= core.settings.now();
}
