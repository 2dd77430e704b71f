/** @module Endpoints for those that watch the controller: health, readiness, metrics. */
import { sql } from "kysely";
import { pendingMigrations } from "../../database/migrations.ts";
import { ref } from "../documents.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { measure } from "../metrics.ts";
import { Problem } from "../problem.ts";

/** Ms that readiness waits for the database. */
const patience = 3_000;

export const healthEndpoints: readonly Endpoint[] = [
  endpoint({
    id: "health",
    method: "GET",
    path: "/healthz",
    summary: "Says that the process is alive",
    role: "public",
    answers: { 200: ref("Healthy") },
    handle: async ({ world }) => json(200, { status: "ok", version: world.version }),
  }),
  endpoint({
    id: "readiness",
    method: "GET",
    path: "/readyz",
    summary: "Says whether the database answers and has the tables of this version",
    role: "public",
    answers: { 200: ref("Ready") },
    async handle({ world: { database } }) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error("late")), patience);
      });
      const look = async (): Promise<readonly string[]> => {
        await sql`SELECT 1`.execute(database);
        return pendingMigrations(database);
      };
      const pending = await Promise.race([look(), late])
        .catch(() => {
          throw new Problem("database-unavailable", undefined, { "retry-after": "5" });
        })
        .finally(() => clearTimeout(timer));
      if (pending.length > 0)
        throw new Problem(
          "not-ready",
          "the tables are those of an older version: run graphform serve migrate",
          {
            "retry-after": "30",
          },
        );
      return json(200, { status: "ready" });
    },
  }),
  endpoint({
    id: "metrics",
    method: "GET",
    path: "/metrics",
    summary: "Metrics in Prometheus' text format; a tenant's token sees those of its manifests and runs",
    role: "viewer",
    answers: { 200: "text/plain" },
    handle: async ({ world, caller }) =>
      new Response(await measure(world, caller.tenant), {
        headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" },
      }),
  }),
];
