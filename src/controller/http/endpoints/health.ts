/** @module Endpoints for those that watch the controller: health, readiness, metrics. */
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { pendingMigrations } from "../../database/migrations.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { measure } from "../metrics.ts";
import { Problem } from "../problem.ts";

/** Ms that readiness waits for the database. */
const patience = 3_000;

export const healthEndpoints: readonly Endpoint[] = [
  endpoint(
    "GET /healthz",
    ["health", "Says that the process is alive", "public"],
    { answers: { 200: "Healthy" } },
    async ({ world }) => ({ status: "ok", version: world.version }),
  ),
  endpoint(
    "GET /readyz",
    ["readiness", "Says that the database answers and has the tables of this version", "public"],
    { answers: { 200: "Ready" } },
    async ({ world: { database } }) => {
      const late = new AbortController();
      const looks = sql`SELECT 1`.execute(database).then(() => pendingMigrations(database));
      const pending = await Promise.race([looks, pause(patience, undefined, { signal: late.signal })])
        .catch(() => undefined)
        .finally(() => late.abort());
      const retry = { "retry-after": "5" };
      if (pending === undefined) throw new Problem("database-unavailable", undefined, retry);
      if (pending.length > 0)
        throw new Problem(
          "not-ready",
          "its tables are older than this version: run graphform serve migrate",
          retry,
        );
      return { status: "ready" };
    },
  ),
  endpoint(
    "GET /metrics",
    [
      "metrics",
      "Metrics in Prometheus' text format; a tenant's token sees those of its manifests and runs",
      "viewer",
    ],
    { answers: { 200: "text/plain" } },
    async ({ world, caller }) =>
      new Response(await measure(world, caller.tenant), {
        headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" },
      }),
  ),
];
