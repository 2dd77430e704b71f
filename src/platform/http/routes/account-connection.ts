/** @module Serves connect and disconnect of cloud accounts. */
import type { Hono } from "hono";
import { connectAccount } from "../../control/account-connection.ts";
import type { Core } from "../../core.ts";
import { subscriptionOf } from "../../dialect/dialect.ts";
import { ServiceError } from "../../model/service-error.ts";
import { version } from "../contract.ts";
import type { Env } from "../exchange.ts";
import { objectOf } from "../object-of.ts";
import { serviceId } from "./plans.ts";
import { pathParam, sessionRoutes } from "./router.ts";
import { tagsOf } from "./tags-of.ts";

/** Registers the operation. The path names the account's instance or its configuration. */
export function accountConnectionEndpoint(app: Hono<Env>, core: Core): void {
  const path = `${version}/resource-instance/account-config/:id`;
  sessionRoutes(app, core)("POST", path, "account-connection", async (context, exchange) => {
    const asked = pathParam(context, "id");
    const record = core.store.instances
      .list()
      .find(
        (instance) => instance.isAccount && (instance.id === asked || instance.accountConfigId === asked),
      );
    if (record === undefined) throw new ServiceError(404, `cloud account ${asked} not found`);
    const body = objectOf(exchange.body, ["serviceId", "subscriptionId", "setConnection", "customTags"]);
    const { serviceId: service, subscriptionId: subscription, setConnection: isWanted } = body;
    for (const key of ["serviceId", "subscriptionId"])
      if (typeof body[key] !== "string" || body[key] === "")
        throw new ServiceError(400, `${key} is required`);
    if (service !== serviceId) throw new ServiceError(404, `service ${String(service)} not found`);
    if (core.dialect.hasPlanSubscriptions && subscription !== subscriptionOf(record))
      throw new ServiceError(
        403,
        `subscription ${String(subscription)} is not one to the plan of tier ${record.tier}`,
      );
    if (isWanted !== undefined && typeof isWanted !== "boolean")
      throw new ServiceError(400, "setConnection must be true or false");
    const customTags = tagsOf(body);
    if (isWanted !== undefined) await connectAccount(core, record, isWanted);
    if (customTags !== undefined)
      await core.store.instances.update(record.id, (now) => ({
        ...now,
        customTags,
        lastModified: core.timestamp(),
      }));
    return new Response(null, { status: 202 });
  });
}
