/** @module Serves backups, snapshots, copies and restores. */
import type { Context, Hono } from "hono";
import type { JsonObject } from "../../../model/json.ts";
import { restoreSnapshot } from "../../control/restore-snapshot.ts";
import {
  copySnapshot,
  deleteSnapshot,
  describeSnapshot,
  findSnapshot,
  latestSnapshot,
  takeSnapshot,
} from "../../control/snapshots.ts";
import { isRegion } from "../../control/validate.ts";
import type { Core } from "../../core.ts";
import { newId, type SnapshotRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import { componentPath, version } from "../contract.ts";
import type { Env } from "../exchange.ts";
import { objectOf } from "../object-of.ts";
import { checkSubscription, instanceOf, locateComponent } from "./locate.ts";
import { accepted, paged, pathParam, sessionRoutes } from "./router.ts";

const path = `${version}/resource-instance/snapshot`;
const restorePath = `${path}/:snapshotId/restore`;
const types = ["ManualSnapshot", "AutomatedSnapshot"];
const environments = ["PROD", "PRIVATE", "CANARY", "STAGING", "QA", "DEV", "GLOBAL"];

/** Registers the operations on snapshots (specification 4.4, 4.5, 4.7). */
export function snapshotEndpoints(app: Hono<Env>, core: Core): void {
  const route = sessionRoutes(app, core);
  const component = componentPath(core.dialect);
  const { hasBackup, copyAnswer, omitsEmptyList } = core.dialect.snapshots;
  /** The snapshot of a path; 403 for the subscription of another plan. */
  const found = (context: Context<Env>): SnapshotRecord => {
    const snapshot = findSnapshot(core, pathParam(context, "snapshotId"));
    checkSubscription(core, context, snapshot.tier);
    return snapshot;
  };
  const listed = (context: Context<Env>, snapshots: readonly SnapshotRecord[]): Response => {
    if (omitsEmptyList && snapshots.length === 0) return context.json({});
    const { items, more } = paged(core, context, snapshots);
    return context.json({
      snapshots: items.map((snapshot) => describeSnapshot(core.dialect, snapshot)),
      ...more,
    });
  };

  if (hasBackup)
    route("POST", `${component}/:id/backup`, "backup", async (context, { fault }) => {
      const instanceId = instanceOf(core, context).id;
      await takeSnapshot(core, { instanceId, type: "ManualSnapshot" }, fault);
      return accepted();
    });

  route("POST", path, "create-snapshot", async (context, exchange) => {
    const body = objectOf(exchange.body, ["instanceId", "targetRegion"]);
    const instanceId = textOf(body, "instanceId");
    if (instanceId === undefined) throw new ServiceError(400, "instanceId is required");
    const region = regionOf(body);
    checkSubscription(core, context, core.store.instances.get(instanceId)?.tier);
    const id = await takeSnapshot(core, { instanceId, type: "ManualSnapshot", region }, exchange.fault);
    return context.json({ id }, 202);
  });

  route("GET", path, "list-snapshots", (context) => {
    const type = oneOf(context.req.query("snapshotType"), types, "snapshotType");
    const environment = oneOf(context.req.query("environmentType"), environments, "environmentType");
    const shown = core.store.snapshots.list().filter((snapshot) => (type ?? snapshot.type) === snapshot.type);
    return listed(context, (environment ?? "PROD") === "PROD" ? shown : []);
  });

  route("GET", `${component}/:id/snapshot`, "list-own-snapshots", (context) => {
    const { id } = instanceOf(core, context);
    const shown = core.store.snapshots.list().filter((snapshot) => snapshot.sourceInstanceId === id);
    return listed(context, shown);
  });

  route("GET", `${path}/:snapshotId`, "describe-snapshot", (context) =>
    context.json(describeSnapshot(core.dialect, found(context))),
  );

  route("POST", `${path}/:snapshotId`, "copy-snapshot", async (context, exchange) => {
    const source = found(context);
    const body = objectOf(exchange.body, core.dialect.copy.region);
    await copySnapshot(core, source, needed(regionOf(body)), exchange.fault);
    return context.json({ id: newId("orchestration") }, 202);
  });

  route("POST", `${component}/:id/copy-snapshot`, "copy-snapshot", async (context, exchange) => {
    const { id } = instanceOf(core, context);
    const { region: regionKeys, source: sourceKeys } = core.dialect.copy;
    const body = objectOf(exchange.body, [...regionKeys, ...sourceKeys]);
    const wanted = firstOf(body, sourceKeys);
    const region = needed(regionOf(body));
    const source = wanted === undefined ? latestSnapshot(core, id) : findSnapshot(core, wanted);
    if (source.sourceInstanceId !== id)
      throw new ServiceError(400, `snapshot ${source.id} is of another instance`);
    const copy = await copySnapshot(core, source, region, exchange.fault);
    return context.json(Object.fromEntries(copyAnswer.map((key) => [key, copy])), 202);
  });

  for (const [where, key] of [
    [restorePath, "instanceId"],
    [`${component}/snapshot/:snapshotId/restore`, "id"],
  ] as const) {
    route("POST", where, "restore", async (context, exchange) => {
      const snapshot = found(context);
      if (where !== restorePath) checkComponent(core, snapshot, context);
      const body = objectOf(exchange.body, ["network_type", "custom_network_id"]);
      const wanted = {
        networkType: textOf(body, "network_type"),
        customNetworkId: textOf(body, "custom_network_id"),
      };
      const id = await restoreSnapshot(core, snapshot, wanted, exchange.fault);
      return context.json({ [key]: id }, 202);
    });
  }

  route("DELETE", `${path}/:snapshotId`, "delete-snapshot", async (context) => {
    await deleteSnapshot(core, found(context));
    return accepted();
  });
}

/** Refuses (404) a snapshot of another component than the path's. */
function checkComponent(core: Core, snapshot: SnapshotRecord, context: Context<Env>): void {
  const { plan, component: found } = locateComponent(core, context);
  if (snapshot.tier !== plan.tier || snapshot.component !== found.id)
    throw new ServiceError(404, `snapshot ${snapshot.id} not found`);
}

/** The target region; undefined where the body names none. */
function regionOf(body: JsonObject): string | undefined {
  const region = textOf(body, "targetRegion") ?? textOf(body, "target_region");
  if (region !== undefined && !isRegion(region)) throw new ServiceError(400, "targetRegion is not a region");
  return region;
}

function needed(region: string | undefined): string {
  if (region === undefined) throw new ServiceError(400, "targetRegion is required");
  return region;
}

function firstOf(body: JsonObject, keys: readonly string[]): string | undefined {
  return keys.map((key) => textOf(body, key)).find((value) => value !== undefined);
}

function textOf(body: JsonObject, key: string): string | undefined {
  const value = body[key];
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value === "") throw new ServiceError(400, `${key} must be a string`);
  return value;
}

function oneOf(given: string | undefined, allowed: readonly string[], name: string): string | undefined {
  if (given === undefined || given === "" || allowed.includes(given)) return given === "" ? undefined : given;
  throw new ServiceError(400, `${name} must be one of ${allowed.join(", ")}`);
}
