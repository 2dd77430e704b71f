/** @module Endpoints of the fleet as a whole: tenants, drift, locks, workers, audit, and runs that failed. */
import { type SqlBool, sql } from "kysely";
import { verifyAudit } from "../../database/audit.ts";
import { requestRun } from "../../runs/decide.ts";
import { empty, nameSchema, ref } from "../documents.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { manifestPage, manifestsOf, statusOf, tenants, usualPage } from "../rows.ts";
import { paging } from "./manifests.ts";

/** Runs that one request asks for again at most. */
const mostRedriven = 500;

export const fleetEndpoints: readonly Endpoint[] = [
  endpoint({
    id: "listTenants",
    method: "GET",
    path: "/api/v1/tenants",
    summary: "Lists the tenants of the configuration, with the number of their manifests",
    role: "viewer",
    answers: { 200: ref("Tenants") },
    async handle({ world, caller }) {
      const names = Object.keys(world.config.current().tenants).filter(
        (name) => caller.tenant === null || caller.tenant === name,
      );
      const rows = await world.database
        .selectFrom("manifests")
        .select(["tenant", sql<number>`count(*)::int`.as("manifests")])
        .where("removed_at", "is", null)
        .groupBy("tenant")
        .$if(caller.tenant !== null, (some) => some.where("tenant", "=", caller.tenant))
        .execute();
      const counts = new Map(rows.map(({ tenant, manifests }) => [tenant, manifests]));
      return json(200, { tenants: names.sort().map((name) => ({ name, manifests: counts.get(name) ?? 0 })) });
    },
  }),
  endpoint({
    id: "showDrift",
    method: "GET",
    path: "/api/v1/drift",
    summary: "Lists the manifests that the service differs from, with how many were checked of how many",
    role: "viewer",
    query: { tenant: nameSchema, ...paging },
    answers: { 200: ref("Drift") },
    async handle({ world: { database }, caller, query }) {
      const within = tenants(caller, query);
      let all = database
        .selectFrom("manifests")
        .select([
          sql<number>`count(*)::int`.as("manifests"),
          sql<number>`count(checked_at)::int`.as("checked"),
          sql<Date | null>`min(checked_at)`.as("oldest"),
        ])
        .where("removed_at", "is", null);
      for (const tenant of within) all = all.where("tenant", "=", tenant);
      const { manifests, checked, oldest } = await all.executeTakeFirstOrThrow();
      const page = await manifestPage(
        manifestsOf(database, within).where("drifted_at", "is not", null),
        query,
      );
      return json(200, {
        manifests,
        checked,
        oldestCheckAt: oldest,
        drifted: page.manifests,
        next: page.next,
      });
    },
  }),
  endpoint({
    id: "listLocks",
    method: "GET",
    path: "/api/v1/locks",
    summary: "Lists the states that are locked, with their holders",
    role: "viewer",
    query: { tenant: nameSchema },
    answers: { 200: ref("Locks") },
    async handle({ world: { database }, caller, query }) {
      let found = database
        .selectFrom("locks")
        .selectAll()
        .where("holder_id", "is not", null)
        .where("expires_at", ">", sql<Date>`clock_timestamp()`)
        .orderBy("name")
        .limit(1000);
      for (const tenant of tenants(caller, query))
        found = found.where(sql<SqlBool>`starts_with(name, ${`${tenant}/`})`);
      const locks = (await found.execute()).map(
        ({ name, holder_id, holder, fence, heartbeat_at, expires_at }) => {
          const {
            who = "",
            host = "",
            operation = "",
          } = { ...holder } as { readonly [field: string]: unknown };
          const times = { heartbeatAt: heartbeat_at, expiresAt: expires_at };
          return {
            state: name,
            id: holder_id,
            who: `${who}`,
            host: `${host}`,
            operation: `${operation}`,
            fence,
            ...times,
          };
        },
      );
      return json(200, { locks });
    },
  }),
  endpoint({
    id: "listWorkers",
    method: "GET",
    path: "/api/v1/workers",
    summary: "Lists the workers, which are all tenants' own",
    role: "viewer",
    scope: "all",
    answers: { 200: ref("Workers") },
    async handle({ world: { database } }) {
      const rows = await database
        .selectFrom("workers")
        .selectAll()
        .orderBy("started_at")
        .limit(1000)
        .execute();
      const workers = rows.map(({ started_at, seen_at, ...row }) => ({
        ...row,
        startedAt: started_at,
        seenAt: seen_at,
      }));
      return json(200, { workers });
    },
  }),
  endpoint({
    id: "listAudit",
    method: "GET",
    path: "/api/v1/audit",
    summary: "Lists the acts of people and tokens, newest first",
    role: "approver",
    query: { tenant: nameSchema, limit: paging.limit, after: { type: "string", pattern: "^\\d{1,15}$" } },
    answers: { 200: ref("Audit") },
    async handle({ world: { database }, caller, query }) {
      const { limit = usualPage, after } = query;
      let found = database
        .selectFrom("audit")
        .select(["id", "at", "tenant", "actor", "action", "subject", "details", "hash"])
        .orderBy("id", "desc")
        .limit(limit + 1);
      for (const tenant of tenants(caller, query)) found = found.where("tenant", "=", tenant);
      if (after !== undefined) found = found.where("id", "<", Number(after));
      const acts = await found.execute();
      const last = acts.length > limit ? acts[limit - 1] : undefined;
      return json(200, { acts: acts.slice(0, limit), next: last === undefined ? null : String(last.id) });
    },
  }),
  endpoint({
    id: "checkAudit",
    method: "GET",
    path: "/api/v1/audit/check",
    summary: "Goes through the chain of the audit log and names the first act that was altered",
    role: "admin",
    scope: "all",
    answers: { 200: ref("AuditCheck") },
    handle: async ({ world: { database } }) =>
      json(200, { firstBroken: (await verifyAudit(database)) ?? null }),
  }),
  endpoint({
    id: "redrive",
    method: "POST",
    path: "/api/v1/redrive",
    summary: "Asks for a new run of each manifest whose last one failed",
    role: "approver",
    query: { tenant: nameSchema },
    body: empty,
    answers: { 202: ref("Redriven") },
    repeats: true,
    async handle({ world, caller, query }) {
      const failed = await manifestsOf(world.database, tenants(caller, query))
        .where(statusOf, "=", "errored")
        .orderBy("id")
        .limit(mostRedriven)
        .execute();
      const runs: string[] = [];
      const asking = { kind: "reconcile", trigger: "request", actor: caller.actor } as const;
      for (const { id } of failed) {
        const asked = await requestRun(world, id, asking);
        if ("run" in asked) runs.push(asked.run);
      }
      return json(202, { runs });
    },
  }),
];
