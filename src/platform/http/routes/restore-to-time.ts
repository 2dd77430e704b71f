/** @module Serves the restore of an instance to a time. */
import type { Hono } from "hono";
import { restoreToTime } from "../../control/restore-to-time.ts";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import { componentPath } from "../component-path.ts";
import type { Env } from "../exchange.ts";
import { objectOf } from "../object-of.ts";
import { databaseOf } from "./locate.ts";
import { sessionRoutes } from "./router.ts";

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
