/** @module Serves the upgrade of an instance to another plan version. */
import type { Hono } from "hono";
import type { JsonObject } from "../../../model/json.ts";
import type { Core } from "../../core.ts";
import { findComponent } from "../../dialect/dialect.ts";
import { upgradeTarget } from "../../model/plan-versions.ts";
import type { InstanceRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import { version } from "../contract.ts";
import type { Env } from "../exchange.ts";
import { objectOf } from "../object-of.ts";
import { checkSubscription } from "./locate.ts";
import { accepted, pathParam, sessionRoutes } from "./router.ts";

/** Keys of the body that locate the instance: the variable segments of a component's path. */
const placeKeys = [
  "serviceProviderId",
  "serviceKey",
  "serviceAPIVersion",
  "serviceEnvironmentKey",
  "serviceModelKey",
  "productTierKey",
  "resourceKey",
] as const;

/** Registers the operation. */
export function versionUpgradeEndpoint(app: Hono<Env>, core: Core): void {
  const path = `${version}/resource-instance/:id/version-upgrade`;
  sessionRoutes(app, core)("POST", path, "version-upgrade", async (context, exchange) => {
    const body = objectOf(exchange.body, [...placeKeys, "targetVersion"]);
    const record = databaseAt(core, body, pathParam(context, "id"));
    checkSubscription(core, context, record.tier);
    const { targetVersion } = body;
    if (targetVersion !== undefined && typeof targetVersion !== "string")
      throw new ServiceError(400, "targetVersion must be a string");
    core.lifecycle.check(record.id, "upgrade");
    const planVersion = upgradeTarget(record, targetVersion);
    await core.lifecycle.operate(record.id, "upgrade", exchange.fault, { planVersion });
    return accepted();
  });
}

/** The database of an id and the keys of a body; 404 where they do not match. */
function databaseAt(core: Core, body: JsonObject, id: string): InstanceRecord {
  const texts = placeKeys.map((key) => body[key]);
  const [provider, service, api, environment, model = "", tier = "", resource = ""] = texts.map(String);
  const missing = placeKeys.filter((_, at) => typeof texts[at] !== "string" || texts[at] === "");
  if (missing.length > 0) throw new ServiceError(400, missing.map((key) => `${key} is required`).join("; "));
  const { dialect } = core;
  const isThisService =
    provider === dialect.provider && service === dialect.service && api === "v1" && environment === "prod";
  const found = isThisService ? findComponent(dialect, { model, tier, resource }) : undefined;
  const record = core.store.instances.get(id);
  if (record?.tier !== found?.plan.tier || record?.component !== found?.component.id || record === undefined)
    throw new ServiceError(404, `instance ${id} not found`);
  if (record.isAccount) throw new ServiceError(400, `${id} is a cloud account and has no such operation`);
  return record;
}
