/** @module Serves the operations on instances, except those on snapshots. */
import { isObject, type JsonObject } from "../../../model/json.ts";
import { addAccount, removeAccount } from "../../control/accounts.ts";
import { createInstance, restoreToTime } from "../../control/new-instance.ts";
import { readAccount, readCreate, readUpdate } from "../../control/validate.ts";
import type { Core } from "../../core.ts";
import { checkInDialect, findComponent, type Located, ownBody, ownCreate } from "../../dialect/dialect.ts";
import { knownVersion, preferredVersion, upgradeTarget } from "../../model/plans.ts";
import type { InstanceRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import { componentPath, fieldsOf, tagsOf } from "../contract.ts";
import { describeInstance } from "../describe.ts";
import type { Call, Row } from "../exchange.ts";
import {
  checkSubscription,
  databaseOf,
  instanceOf,
  isVisible,
  locateComponent,
  locateNodes,
  paged,
  pathParam,
  subscriptionFor,
} from "./router.ts";

export function instanceRows({ dialect }: Core): readonly Row[] {
  const component = componentPath(dialect);
  const instance = `${component}/:id`;
  return [
    ["POST", `${instance}/failover`, "failover", failover],
    ["POST", `${instance}/restore`, "restore-to-time", restoreTime, 202],
    ["POST", "/resource-instance/:id/version-upgrade", "version-upgrade", upgradeVersion],
    ["POST", component, "create", createResource, 202],
    ["GET", component, "list", listInstances],
    ["GET", "/resource-instance", "list-all", listAllInstances],
    ["GET", instance, "describe", (call) => describeInstance(call.core, instanceOf(call))],
    ...dialect.updateMethods.map((method): Row => [method, instance, "update", updateInstance]),
    ["DELETE", instance, "delete", deleteResource],
    ...(["start", "stop", "restart"] as const).map(
      (name): Row => [
        ...(["POST", `${instance}/${name}`, name] as const),
        (call) => call.core.lifecycle.operate(databaseOf(call).id, name, call.fault),
      ],
    ),
    ["PATCH", `${instance}/metadata`, "metadata", changeMetadata],
    ["GET", "/resource-instance/:id/audit-events", "audit-events", listEvents],
  ];
}

async function createResource(call: Call): Promise<JsonObject> {
  const place = locateComponent(call);
  const create = place.component === place.plan.account ? createAccount : createDatabase;
  return { id: await create(call, place) };
}

function listInstances(call: Call): JsonObject {
  const { plan, component } = locateComponent(call);
  const { items, more } = listed(call, (of) => of.tier === plan.tier && of.component === component.id);
  return { ids: items.map(({ id }) => id), ...more };
}

function listAllInstances(call: Call): JsonObject {
  const { items, more } = listed(call, () => true);
  const resourceInstances = items.map((record) => ({
    resourceID: record.resourceId,
    ...describeInstance(call.core, record),
  }));
  return { resourceInstances, ...more };
}

function listed(
  call: Call,
  isOf: (record: InstanceRecord) => boolean,
): ReturnType<typeof paged<InstanceRecord>> {
  const shown = call.core.store.instances.list().filter((record) => isVisible(call, record) && isOf(record));
  return paged(call, call.fault.missingFromList ? shown.slice(0, -1) : shown);
}

async function updateInstance(call: Call): Promise<void> {
  const { core, fault } = call;
  const record = databaseOf(call);
  const body = ownBody(core.dialect, call.body ?? null);
  const place = { ...record, instanceTypes: core.instanceTypes };
  const changed = checkInDialect(core.dialect, () => readUpdate(body, place, record));
  const password = changed.params["graphdbPassword"];
  if (typeof password === "string") core.secrets.add(password);
  await core.lifecycle.operate(record.id, "update", fault, { ...changed, customTags: tagsOf(body) });
}

async function deleteResource(call: Call): Promise<void> {
  const { core, fault } = call;
  const record = instanceOf(call);
  if (record.isAccount) await removeAccount(core, record);
  else await core.lifecycle.operate(record.id, "delete", fault);
}

async function changeMetadata(call: Call): Promise<void> {
  const { core } = call;
  const record = instanceOf(call);
  const body = fieldsOf(call.body, { deletionProtection: "boolean", customTags: "any" });
  const tags = tagsOf(body);
  await core.store.instances.update(record.id, (now) => ({
    ...now,
    deletionProtection: body.deletionProtection ?? now.deletionProtection,
    customTags: tags ?? now.customTags,
    lastModified: core.timestamp(),
  }));
  core.events.add(record.id, `metadata changed: ${Object.keys(body).join(", ")}`);
}

function listEvents(call: Call): JsonObject {
  const { core } = call;
  const id = pathParam(call, "id");
  const record = core.store.instances.get(id);
  const { items, more } = paged(call, core.events.recent(id));
  const events = items.map(({ id: number, time, message, isFailure }) => ({
    id: `event-${number}`,
    time,
    message,
    resourceInstanceId: id,
    resourceName: record?.component ?? "",
    subscriptionId: record?.subscriptionId ?? "",
    userName: core.credentials.username,
    workflowFailures: isFailure ? [{ eventTime: time, message }] : [],
  }));
  return { events, ids: events.map((event) => event.id), ...more };
}

const actions = ["FAILOVER_ONLY", "FAILOVER_AND_RESTART", "FAILOVER_AND_RECREATE"];

/** Failover (specification 4.7) with the keys of the dialect. */
async function failover(call: Call): Promise<void> {
  const { core, fault } = call;
  const record = instanceOf(call, locateNodes(call));
  const { node: nodeKeys, action: actionKeys } = core.dialect.failover;
  const [nodeKey = "", actionKey = ""] = [nodeKeys[0], actionKeys[0]];
  const keys = [...nodeKeys, ...actionKeys];
  const body = fieldsOf(call.body, Object.fromEntries(keys.map((key) => [key, "any"])));
  const [node, action] = [textAt(body, nodeKeys), textAt(body, actionKeys)];
  if (node === undefined) throw new ServiceError(400, `${nodeKey} is required`);
  if (action === undefined && body["failed_replica_id"] !== undefined)
    throw new ServiceError(400, `${actionKey} is required`);
  if (action !== undefined && !actions.includes(action))
    throw new ServiceError(400, `${actionKey} must be one of ${actions.join(", ")}`);
  core.lifecycle.check(record.id, "failover");
  if (!record.nodes.some(({ id }) => id === node))
    throw new ServiceError(400, `instance ${record.id} has no replica named as ${nodeKey} says`);
  if (record.nodes.length < 2)
    throw new ServiceError(409, `instance ${record.id} has one node and nothing to fail over to`);
  await core.lifecycle.operate(record.id, "failover", fault, {
    failedNode: node,
    failoverAction: action ?? "FAILOVER_AND_RESTART",
  });
}

function textAt(body: JsonObject, keys: readonly string[]): string | undefined {
  const found = keys.map((key) => body[key]).find((value) => value !== undefined);
  return typeof found === "string" && found !== "" ? found : undefined;
}

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

async function restoreTime(call: Call): Promise<JsonObject> {
  const record = databaseOf(call);
  const body = fieldsOf(call.body, { targetRestoreTime: "any", network_type: "text" });
  const { targetRestoreTime: text, network_type: networkType } = body;
  if (text === undefined) throw new ServiceError(400, "targetRestoreTime is required");
  const time = typeof text === "string" && timePattern.test(text) ? Date.parse(text) : Number.NaN;
  const [day = ""] = String(text).split("T");
  // `Date` reads 30 February as 2 March.
  if (Number.isNaN(time) || !new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day))
    throw new ServiceError(400, "targetRestoreTime must be a time like 2026-01-31T12:00:00Z");
  return { id: await restoreToTime(call.core, record, time, networkType, call.fault) };
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

async function upgradeVersion(call: Call): Promise<void> {
  const { core, fault } = call;
  const types = {
    ...Object.fromEntries(placeKeys.map((key) => [key, "text"] as const)),
    targetVersion: "text",
  } as const;
  const body = fieldsOf(call.body, types, placeKeys);
  const [provider, service, api, environment, model = "", tier = "", resource = ""] = placeKeys.map((key) =>
    String(body[key]),
  );
  const { dialect } = core;
  const isThisService =
    provider === dialect.provider && service === dialect.service && api === "v1" && environment === "prod";
  const found = isThisService ? findComponent(dialect, { model, tier, resource }) : undefined;
  const id = pathParam(call, "id");
  if (found === undefined) throw new ServiceError(404, `instance ${id} not found`);
  const record = databaseOf(call, instanceOf(call, found));
  checkSubscription(call, record.tier);
  core.lifecycle.check(id, "upgrade");
  const planVersion = upgradeTarget(record, body.targetVersion);
  await core.lifecycle.operate(id, "upgrade", fault, { planVersion });
}

async function createDatabase(call: Call, { plan, component }: Located): Promise<string> {
  const { core } = call;
  const { tier } = plan;
  if (component.nodes.length === 0)
    throw new ServiceError(400, `the local platform does not run ${component.key}: it has no clusters`);
  const body = ownCreate(core.dialect, call.body ?? null, tier);
  const place = { tier, component: component.id, instanceTypes: core.instanceTypes };
  const wanted = checkInDialect(core.dialect, () => readCreate(body, place));
  const asked = isObject(body) ? (body["productTierVersion"] ?? preferredVersion) : preferredVersion;
  if (typeof asked !== "string") throw new ServiceError(400, "productTierVersion must be a string");
  return createInstance(
    core,
    {
      ...wanted,
      tier,
      component: component.id,
      resourceId: component.resourceId,
      planVersion: knownVersion(asked),
      subscriptionId: subscriptionFor(call, tier),
      customTags: tagsOf(body) ?? [],
    },
    call.fault,
  );
}

async function createAccount(
  { core, context, body = null, fault }: Call,
  { plan, component: { id: component, resourceId } }: Located,
): Promise<string> {
  const subscriptionId = context.req.query("subscriptionId") ?? "";
  if (subscriptionId === "") throw new ServiceError(400, "query parameter subscriptionId is required");
  const place = { tier: plan.tier, component, resourceId, subscriptionId, customTags: tagsOf(body) ?? [] };
  return addAccount(core, place, readAccount(body), fault);
}
