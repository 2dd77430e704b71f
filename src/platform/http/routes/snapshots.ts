/** @module Serves backups, snapshots, copies and restores. */
import type { JsonObject } from "../../../model/json.ts";
import { restoreSnapshot } from "../../control/new-instance.ts";
import {
  copySnapshot,
  deleteSnapshot,
  describeSnapshot,
  findSnapshot,
  latestSnapshot,
  takeSnapshot,
} from "../../control/snapshots.ts";
import { isSafeName } from "../../control/validate.ts";
import type { Core } from "../../core.ts";
import { newId, type SnapshotRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import { componentPath, fieldsOf } from "../contract.ts";
import type { Call, Row } from "../exchange.ts";
import { checkSubscription, instanceOf, locateComponent, paged, pathParam } from "./router.ts";

export function snapshotRows({ dialect }: Core): readonly Row[] {
  const component = componentPath(dialect);
  const instance = `${component}/:id`;
  const snapshots = "/resource-instance/snapshot";
  const snapshot = `${snapshots}/:snapshotId`;
  return [
    ...(dialect.isVendors ? [] : [["POST", `${instance}/backup`, "backup", backUp] as const]),
    ["POST", snapshots, "create-snapshot", createSnapshot, 202],
    ["GET", snapshots, "list-snapshots", listSnapshots],
    ["GET", `${instance}/snapshot`, "list-own-snapshots", listOwnSnapshots],
    ["GET", snapshot, "describe-snapshot", (call) => describeSnapshot(dialect, snapshotOf(call))],
    ["POST", snapshot, "copy-snapshot", copyToRegion, 202],
    ["POST", `${instance}/copy-snapshot`, "copy-snapshot", copyOfInstance, 202],
    [
      "POST",
      `${snapshot}/restore`,
      "restore",
      async (call) => ({ instanceId: await restored(call, snapshotOf(call)) }),
      202,
    ],
    ["POST", `${component}/snapshot/:snapshotId/restore`, "restore", restoreInComponent, 202],
    ["DELETE", snapshot, "delete-snapshot", (call) => deleteSnapshot(call.core, snapshotOf(call))],
  ];
}

const types = ["ManualSnapshot", "AutomatedSnapshot"];
const environments = ["PROD", "PRIVATE", "CANARY", "STAGING", "QA", "DEV", "GLOBAL"];

async function backUp(call: Call): Promise<void> {
  await takeSnapshot(call.core, instanceOf(call).id, call.fault);
}

async function createSnapshot(call: Call): Promise<JsonObject> {
  const { core, fault } = call;
  const body = fieldsOf(call.body, { instanceId: "text", targetRegion: "text" }, ["instanceId"]);
  const { instanceId = "" } = body;
  const region = regionIn(body);
  checkSubscription(call, core.store.instances.get(instanceId)?.tier);
  return { id: await takeSnapshot(core, instanceId, fault, { region }) };
}

function listSnapshots(call: Call): JsonObject {
  const { core, context } = call;
  const type = oneOf(context.req.query("snapshotType"), types, "snapshotType");
  const environment = oneOf(context.req.query("environmentType"), environments, "environmentType");
  const shown = core.store.snapshots.list().filter((snapshot) => (type ?? snapshot.type) === snapshot.type);
  return answerList(call, (environment ?? "PROD") === "PROD" ? shown : []);
}

function listOwnSnapshots(call: Call): JsonObject {
  const { id } = instanceOf(call);
  const own = call.core.store.snapshots.list().filter(({ sourceInstanceId }) => sourceInstanceId === id);
  return answerList(call, own);
}

/** Copies a snapshot (specification 4.4). */
async function copyToRegion(call: Call): Promise<JsonObject> {
  const { core, fault } = call;
  const source = snapshotOf(call);
  const body = fieldsOf(call.body, texts(...core.dialect.copy.region));
  await copySnapshot(core, source, requiredRegion(body), fault);
  return { id: newId("orchestration") };
}

/** Copies a snapshot of an instance, by default the latest (specification 4.7). */
async function copyOfInstance(call: Call): Promise<JsonObject> {
  const { core, fault } = call;
  const { id } = instanceOf(call);
  const { region: regionKeys, source: sourceKeys } = core.dialect.copy;
  const body = fieldsOf(call.body, texts(...regionKeys, ...sourceKeys));
  const wanted = sourceKeys.map((key) => body[key]).find((value) => value !== undefined);
  const region = requiredRegion(body);
  const source = wanted === undefined ? latestSnapshot(core, id) : findSnapshot(core, wanted);
  if (source.sourceInstanceId !== id)
    throw new ServiceError(400, `snapshot ${source.id} is of another instance`);
  const copy = await copySnapshot(core, source, region, fault);
  const { copyAnswer } = core.dialect.snapshots;
  return Object.fromEntries(copyAnswer.map((key) => [key, copy]));
}

/** Restores the snapshot of a path; 404 for one of another component than the path's. */
async function restoreInComponent(call: Call): Promise<JsonObject> {
  const snapshot = snapshotOf(call);
  const { plan, component } = locateComponent(call);
  if (snapshot.tier !== plan.tier || snapshot.component !== component.id)
    throw new ServiceError(404, `snapshot ${snapshot.id} not found`);
  return { id: await restored(call, snapshot) };
}

function restored({ core, fault, body: sent }: Call, snapshot: SnapshotRecord): Promise<string> {
  const body = fieldsOf(sent, { network_type: "text", custom_network_id: "text" });
  const wanted = { networkType: body.network_type, customNetworkId: body.custom_network_id };
  return restoreSnapshot(core, snapshot, wanted, fault);
}

/** The snapshot of a path; 403 for the subscription of another plan. */
function snapshotOf(call: Call): SnapshotRecord {
  const snapshot = findSnapshot(call.core, pathParam(call, "snapshotId"));
  checkSubscription(call, snapshot.tier);
  return snapshot;
}

function answerList(call: Call, snapshots: readonly SnapshotRecord[]): JsonObject {
  const { dialect } = call.core;
  if (dialect.isVendors && snapshots.length === 0) return {};
  const { items, more } = paged(call, snapshots);
  return { snapshots: items.map((snapshot) => describeSnapshot(dialect, snapshot)), ...more };
}

function regionIn(body: JsonObject): string | undefined {
  const region = body["targetRegion"] ?? body["target_region"];
  if (region === undefined) return undefined;
  if (typeof region === "string" && isSafeName(region)) return region;
  throw new ServiceError(400, "targetRegion is not a region");
}

function requiredRegion(body: JsonObject): string {
  const region = regionIn(body);
  if (region === undefined) throw new ServiceError(400, "target_region (or targetRegion) is required");
  return region;
}

function texts(...keys: readonly string[]): { readonly [key: string]: "text" } {
  return Object.fromEntries(keys.map((key) => [key, "text"]));
}

function oneOf(given: string | undefined, allowed: readonly string[], name: string): string | undefined {
  if (given === undefined || given === "") return undefined;
  if (allowed.includes(given)) return given;
  throw new ServiceError(400, `${name} must be one of ${allowed.join(", ")}`);
}
