/** @module Endpoints of the fleet as a whole: tenants, drift, locks, workers, audit, and runs that failed. */
import { type SqlBool, sql } from "kysely";
import { verifyAudit } from "../../database/audit.ts";
import { requestRun } from "../../runs/decide.ts";
import type { Handlers } from "../endpoint.ts";
import { manifestPage, manifestsOf, pageOf, statusOf, tenants } from "../rows.ts";

/** Rows of lists without pages, and runs that one request asks for again, at most. */
const most = 1_000;

export const fleetHandlers: Handlers = {
  async listTenants({ context, caller }) {
    const names = Object.keys(context.config.current().tenants).sort();
    const rows = await context.database
      .selectFrom(manifestsOf(context.database, tenants(caller, {})).as("found"))
      .select(["tenant", sql<number>`count(*)::int`.as("manifests")])
      .groupBy("tenant")
      .execute();
    const counts = new Map(rows.map(({ tenant, manifests }) => [tenant, manifests]));
    const seen = names.filter((name) => caller.tenant === null || caller.tenant === name);
    return { tenants: seen.map((name) => ({ name, manifests: counts.get(name) ?? 0 })) };
  },
  async showDrift({ context: { database }, caller, query }) {
    const found = manifestsOf(database, tenants(caller, query));
    const counts = await database
      .selectFrom(found.as("found"))
      .select([sql<number>`count(*)::int`.as("total"), sql<number>`count(checked_at)::int`.as("checked")])
      .select(sql<Date | null>`min(checked_at)`.as("oldest_check_at"))
      .executeTakeFirstOrThrow();
    return { ...counts, ...(await manifestPage(found.where("drifted_at", "is not", null), query)) };
  },
  async listLocks({ context: { database }, caller, query }) {
    const text = (field: string, name = field) => sql<string>`coalesce(holder->>${field}, '')`.as(name);
    let found = database
      .selectFrom("locks")
      .select(["name as state", "holder_id as id", "fence", "heartbeat_at", "expires_at"])
      .select([text("who"), text("host"), text("operation"), text("created", "since")])
      .where("holder_id", "is not", null)
      .where("expires_at", ">", sql<Date>`clock_timestamp()`);
    for (const tenant of tenants(caller, query))
      found = found.where(sql<SqlBool>`starts_with(name, ${`${tenant}/`})`);
    return { locks: await found.orderBy("name").limit(most).execute() };
  },
  listWorkers: async ({ context: { database } }) => ({
    workers: await database.selectFrom("workers").selectAll().orderBy("started_at").limit(most).execute(),
  }),
  async listAudit({ context: { database }, caller, query }) {
    const last = Number(query.after ?? Number.MAX_SAFE_INTEGER);
    let found = database.selectFrom("audit").selectAll().where("id", "<", last);
    for (const tenant of tenants(caller, query)) found = found.where("tenant", "=", tenant);
    const { rows, next } = await pageOf(found.orderBy("id", "desc"), query, ({ id }) => String(id));
    return { acts: rows, next };
  },
  checkAudit: async ({ context: { database } }) => ({ firstBroken: (await verifyAudit(database)) ?? null }),
  async redrive({ context, caller, query }) {
    const found = manifestsOf(context.database, tenants(caller, query)).where(statusOf, "=", "errored");
    const runs: string[] = [];
    for (const { id } of await found.orderBy("id").limit(most).execute()) {
      const asked = await requestRun(context, { id, actor: caller.actor });
      if ("run" in asked) runs.push(asked.run);
    }
    return { runs };
  },
};
