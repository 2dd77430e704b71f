/** @module Serves failover, restore to a time and version upgrade. */

import type { Hono } from "hono";
import type { JsonObject } from "../../../model/json.ts";
import { restoreToTime } from "../../control/restore-snapshot.ts";
import type { Core } from "../../core.ts";
import { findComponent } from "../../dialect/dialect.ts";
import { upgradeTarget } from "../../model/plans.ts";
import type { InstanceRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import { componentPath, version } from "../contract.ts";
import type { Env } from "../exchange.ts";
import { objectOf } from "../object-of.ts";
import { checkSubscription, databaseOf, instanceOf, locateNodes } from "./locate.ts";
import { accepted, pathParam, sessionRoutes } from "./router.ts";

const actions = ["FAILOVER_ONLY", "FAILOVER_AND_RESTART", "FAILOVER_AND_RECREATE"];

/** Registers failover (specification 4.7) with the keys of the dialect. */
export function failoverEndpoint(app: Hono<Env>, core: Core): void {
  const path = `${componentPath(core.dialect)}/:id/failover`;
  const { node: nodeKeys, action: actionKeys } = core.dialect.failover;
  const [nodeKey = "", actionKey = ""] = [nodeKeys[0], actionKeys[0]];
  sessionRoutes(app, core)("POST", path, "failover", async (context, exchange) => {
    const record = instanceOf(core, context, locateNodes(core, context));
    const body = objectOf(exchange.body, [...nodeKeys, ...actionKeys]);
    const isCamel = body["failed_replica_id"] === undefined;
    const node = textOf(body, nodeKeys);
    const action = textOf(body, actionKeys);
    if (node === undefined) throw new ServiceError(400, `${nodeKey} is required`);
    if (action === undefined && !isCamel) throw new ServiceError(400, `${actionKey} is required`);
    if (action !== undefined && !actions.includes(action)) {
      throw new ServiceError(400, `${actionKey} must be one of ${actions.join(", ")}`);
    }
    core.lifecycle.check(record.id, "failover");
    if (!record.nodes.some(({ id }) => id === node)) {
      throw new ServiceError(400, `instance ${record.id} has no replica named as ${nodeKey} says`);
    }
    if (record.nodes.length < 2)
      throw new ServiceError(409, `instance ${record.id} has one node and nothing to fail over to`);
    await core.lifecycle.operate(record.id, "failover", exchange.fault, {
      failedNode: node,
      failoverAction: action ?? "FAILOVER_AND_RESTART",
    });
    return accepted();
  });
}

function textOf(body: JsonObject, keys: readonly string[]): string | undefined {
  const found = keys.map((key) => body[key]).find((value) => value !== undefined);
  return typeof found === "string" && found !== "" ? found : undefined;
}

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Registers the operation, which creates a new instance with the data of that time. */
export function restoreToTimeEndpoint(app: Hono<Env>, core: Core): void {
  const path = `${componentPath(core.dialect)}/:id/restore`;
  sessionRoutes(app, core)("POST", path, "restore-to-time", async (context, { body: sent, fault }) => {
    const record = databaseOf(core, context);
    const body = objectOf(sent, ["targetRestoreTime", "network_type"]);
    const { targetRestoreTime: text, network_type: networkType } = body;
    if (text === undefined) throw new ServiceError(400, "targetRestoreTime is required");
    const time = typeof text === "string" && timePattern.test(text) ? Date.parse(text) : Number.NaN;
    if (Number.isNaN(time))
      throw new ServiceError(400, "targetRestoreTime must be a time like 2026-01-31T12:00:00Z");
    if (networkType !== undefined && typeof networkType !== "string")
      throw new ServiceError(400, "network_type must be a string");
    return context.json({ id: await restoreToTime(core, record, { time, networkType }, fault) }, 202);
  });
}

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
