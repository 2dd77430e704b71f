import type { Hono } from "hono";
import { isObject, type Json } from "../../model/json.ts";
import { componentPath, version } from "../contract.ts";
import type { Core } from "../core.ts";
import type { Env, Exchange } from "../exchange.ts";
import { newId } from "../new-id.ts";
import { ServiceError } from "../service-error.ts";
import {
  copySnapshot,
  deleteSnapshot,
  describeSnapshot,
  findSnapshot,
  latestSnapshot,
  restoreSnapshot,
  takeSnapshot,
} from "../snapshots.ts";
import { isRegion } from "../validate.ts";
import { instanceOf } from "./located.ts";
import { accepted, partOf, sessionRoutes } from "./router.ts";

const component = `${componentPath}/:model/:tier/:resource`;
const path = `${version}/resource-instance/snapshot`;
const types = ["ManualSnapshot", "AutomatedSnapshot"];
const environments = ["PROD", "PRIVATE", "CANARY", "STAGING", "QA", "DEV", "GLOBAL"];

/** Backup, snapshots, copies, restores (specification 4.4, 4.5, 4.7). */
export function snapshotEndpoints(app: Hono<Env>, core: Core): void {
  const route = sessionRoutes(app, core);

  route("POST", `${component}/:id/backup`, "backup", async (context, { fault }) => {
    await takeSnapshot(core, instanceOf(core.store.instances, context).id, "ManualSnapshot", fault);
    return accepted();
  });

  route("POST", path, "create-snapshot", async (context, exchange) => {
    const instanceId = textOf(exchange, "instanceId");
    if (instanceId === undefined) throw new ServiceError(400, "instanceId is required");
    const id = await takeSnapshot(core, instanceId, "ManualSnapshot", exchange.fault);
    return context.json({ id }, 202);
  });

  route("GET", path, "list-snapshots", (context) => {
    const type = oneOf(context.req.query("snapshotType"), types, "snapshotType");
    const environment = oneOf(context.req.query("environmentType"), environments, "environmentType");
    const shown = core.store.snapshots.kept.list().filter((each) => (type ?? each.type) === each.type);
    return context.json({ snapshots: (environment ?? "PROD") === "PROD" ? shown.map(describeSnapshot) : [] });
  });

  route("GET", `${component}/:id/snapshot`, "list-own-snapshots", (context) => {
    const { id } = instanceOf(core.store.instances, context);
    const shown = core.store.snapshots.kept.list().filter((each) => each.sourceInstanceId === id);
    return context.json({ snapshots: shown.map(describeSnapshot) });
  });

  route("GET", `${path}/:snapshotId`, "describe-snapshot", (context) =>
    context.json(describeSnapshot(findSnapshot(core, partOf(context, "snapshotId")))),
  );

  route("POST", `${path}/:snapshotId`, "copy-snapshot", async (context, exchange) => {
    const source = findSnapshot(core, partOf(context, "snapshotId"));
    await copySnapshot(core, source, regionOf(exchange));
    return context.json({ id: newId("orchestration") }, 202);
  });

  route("POST", `${component}/:id/copy-snapshot`, "copy-snapshot", async (context, exchange) => {
    const { id } = instanceOf(core.store.instances, context);
    const wanted = textOf(exchange, "source_snapshot_id") ?? textOf(exchange, "sourceSnapshotId");
    const region = regionOf(exchange);
    const source = wanted === undefined ? latestSnapshot(core, id) : findSnapshot(core, wanted);
    if (source.sourceInstanceId !== id)
      throw new ServiceError(400, `snapshot ${source.id} is of another instance`);
    const copy = await copySnapshot(core, source, region);
    return context.json({ snapshot_id: copy, snapshotId: copy }, 202);
  });

  for (const [where, key] of [
    [`${path}/:snapshotId/restore`, "instanceId"],
    [`${component}/snapshot/:snapshotId/restore`, "id"],
  ] as const) {
    route("POST", where, "restore", async (context, exchange) => {
      const snapshot = findSnapshot(core, partOf(context, "snapshotId"));
      const wanted = {
        networkType: textOf(exchange, "network_type"),
        customNetworkId: textOf(exchange, "custom_network_id"),
      };
      const id = await restoreSnapshot(core, snapshot, wanted, exchange.fault);
      return context.json({ [key]: id }, 202);
    });
  }

  route("DELETE", `${path}/:snapshotId`, "delete-snapshot", async (context) => {
    await deleteSnapshot(core, findSnapshot(core, partOf(context, "snapshotId")));
    return accepted();
  });
}

function regionOf(exchange: Exchange): string {
  const region = textOf(exchange, "targetRegion") ?? textOf(exchange, "target_region");
  if (region === undefined) throw new ServiceError(400, "targetRegion is required");
  if (!isRegion(region)) throw new ServiceError(400, "targetRegion is not a region");
  return region;
}

function textOf(exchange: Exchange, key: string): string | undefined {
  const body: Json = exchange.body ?? {};
  if (!isObject(body)) throw new ServiceError(400, "the body must be a JSON object");
  const value = body[key];
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value === "") throw new ServiceError(400, `${key} must be a string`);
  return value;
}

function oneOf(given: string | undefined, allowed: readonly string[], name: string): string | undefined {
  if (given === undefined || given === "" || allowed.includes(given)) return given === "" ? undefined : given;
  throw new ServiceError(400, `${name} must be one of ${allowed.join(", ")}`);
}
