/** @module Reads manifests and runs as the documents of the API, within what a caller may see. */
import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import type { Database } from "../database/connect.ts";
import type { ManifestRow, RunRow, Schema } from "../database/schema.ts";
import type { ManifestStatus } from "./documents.ts";
import type { Query } from "./endpoint.ts";
import { Problem } from "./problem.ts";
import type { Caller } from "./tokens.ts";

/** Documents of a page if the request says nothing. */
export const usualPage = 100;

/** Conditions that hold a query within the tenant of the caller, and the tenant that it asks for. */
export function tenants(caller: Caller, { tenant }: Query): readonly string[] {
  return [caller.tenant, tenant].filter((name) => name !== null && name !== undefined);
}

/** Runs that wait for an approval, and the newest run of a manifest that came to an end of its own. */
const waiting = sql`(SELECT id FROM graphform.runs w WHERE w.manifest_id = manifests.id AND w.ended_at IS NULL AND w.status = 'needs_approval'
  ORDER BY w.created_at DESC LIMIT 1)`;
const applying = sql`EXISTS (SELECT FROM graphform.runs w WHERE w.manifest_id = manifests.id AND w.ended_at IS NULL
  AND w.status IN ('approved', 'applying', 'converging'))`;
const newest = sql`(SELECT status FROM graphform.runs w WHERE w.manifest_id = manifests.id AND w.ended_at IS NOT NULL
  AND w.status NOT IN ('superseded', 'canceled', 'discarded') ORDER BY w.created_at DESC LIMIT 1)`;

/** The state of a manifest, for a query over `manifests`. */
export const statusOf: RawBuilder<ManifestStatus> = sql<ManifestStatus>`CASE
  WHEN ${waiting} IS NOT NULL THEN 'waiting'
  WHEN ${applying} THEN 'applying'
  WHEN manifests.trouble IS NOT NULL THEN 'errored'
  WHEN ${newest} = 'blocked' THEN 'blocked'
  WHEN ${newest} IN ('errored', 'stale') THEN 'errored'
  WHEN manifests.drifted_at IS NOT NULL THEN 'drifted'
  WHEN manifests.checked_at IS NULL THEN 'unchecked'
  ELSE 'in-sync' END`;

/** A manifest with what its runs say about it. */
export type ManifestFound = Omit<ManifestRow, "upload"> & {
  readonly status: ManifestStatus;
  readonly waiting_run: string | null;
};

type Manifests = SelectQueryBuilder<Schema, "manifests", ManifestFound>;

/** Manifests that were not removed, of these tenants: of all if the list is empty, of none if it names two. */
export function manifestsOf(database: Database, within: readonly string[]): Manifests {
  let query = database
    .selectFrom("manifests")
    .select([
      ...([
        "id",
        "tenant",
        "name",
        "source",
        "auto",
        "interval_seconds",
        "next_due_at",
        "paused_until",
      ] as const),
      ...([
        "generation",
        "commit",
        "approved_commit",
        "dirty",
        "checked_at",
        "drifted_at",
        "trouble",
      ] as const),
      ...(["created_at", "removed_at"] as const),
      statusOf.as("status"),
      sql<string | null>`${waiting}`.as("waiting_run"),
    ])
    .where("removed_at", "is", null);
  for (const tenant of within) query = query.where("tenant", "=", tenant);
  return query;
}

/** The manifest of a path. Throws `not-found`; what is another tenant's is not looked for. */
export async function findManifest(
  database: Database,
  caller: Caller,
  { tenant = "", name = "" }: { readonly [name: string]: string },
): Promise<ManifestFound> {
  const found = await manifestsOf(database, tenants(caller, { tenant }))
    .where("name", "=", name)
    .executeTakeFirst();
  if (found === undefined) throw new Problem("not-found");
  return found;
}

/** The document of a manifest. */
export function manifestDocument(row: ManifestFound): object {
  return {
    id: row.id,
    tenant: row.tenant,
    name: row.name,
    source: row.source,
    auto: row.auto,
    intervalSeconds: row.interval_seconds,
    status: row.status,
    waitingRun: row.waiting_run,
    commit: row.commit,
    approvedCommit: row.approved_commit,
    trouble: row.trouble,
    nextDueAt: row.next_due_at,
    checkedAt: row.checked_at,
    driftedAt: row.drifted_at,
    pausedUntil: row.paused_until,
    createdAt: row.created_at,
  };
}

/** A page of manifests in the order of their names, after `after`. */
export async function manifestPage(
  query: Manifests,
  { limit = usualPage, after }: Query,
): Promise<{ readonly manifests: readonly object[]; readonly next: string | null }> {
  const [tenant = "", name = ""] = after?.split("/") ?? [];
  const rows = await query
    .$if(after !== undefined, (paged) => paged.where(sql<SqlBool>`(tenant, name) > (${tenant}, ${name})`))
    .orderBy("tenant")
    .orderBy("name")
    .limit(limit + 1)
    .execute();
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    manifests: rows.slice(0, limit).map(manifestDocument),
    next: last === undefined ? null : `${last.tenant}/${last.name}`,
  };
}

/** A run with the name of its manifest. */
export type RunFound = Omit<RunRow, "plan"> & { readonly manifest: string };

type Runs = SelectQueryBuilder<Schema, "runs", RunFound>;

/** Runs of these tenants, with those of manifests that were removed. */
export function runsOf(database: Database, within: readonly string[]): Runs {
  let query = database
    .selectFrom("runs")
    .select([
      ...([
        "id",
        "manifest_id",
        "tenant",
        "kind",
        "trigger",
        "status",
        "commit",
        "generation",
        "fence",
      ] as const),
      ...([
        "worker",
        "attempts",
        "fingerprint",
        "verdict",
        "reasons",
        "counts",
        "exit_code",
        "actor",
      ] as const),
      ...(["cancel_requested_at", "cancel_forced", "created_at", "updated_at", "ended_at"] as const),
      sql<string>`(SELECT name FROM graphform.manifests m WHERE m.id = runs.manifest_id)`.as("manifest"),
    ]);
  for (const tenant of within) query = query.where("tenant", "=", tenant);
  return query;
}

/** The run of a path. Throws `not-found`, also for another tenant's. */
export async function findRun(
  database: Database,
  caller: Caller,
  { run = "" }: { readonly [name: string]: string },
): Promise<RunFound> {
  const found = await runsOf(database, tenants(caller, {})).where("id", "=", run).executeTakeFirst();
  if (found === undefined) throw new Problem("not-found");
  return found;
}

/** The document of a run. */
export function runDocument(row: RunFound): object {
  return {
    id: row.id,
    tenant: row.tenant,
    manifest: row.manifest,
    kind: row.kind,
    trigger: row.trigger,
    status: row.status,
    commit: row.commit,
    fingerprint: row.fingerprint,
    verdict: row.verdict,
    reasons: row.reasons,
    counts: row.counts,
    exitCode: row.exit_code,
    actor: row.actor,
    worker: row.worker,
    cancelRequestedAt: row.cancel_requested_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
  };
}

/** A page of runs, newest first, older than the run `after`. */
export async function runPage(
  query: Runs,
  { limit = usualPage, after }: Query,
): Promise<{ readonly runs: readonly object[]; readonly next: string | null }> {
  const rows = await query
    .$if(after !== undefined, (paged) =>
      paged.where(
        sql<SqlBool>`(created_at, id) < (SELECT r.created_at, r.id FROM graphform.runs r WHERE r.id = ${after ?? ""}::uuid)`,
      ),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { runs: rows.slice(0, limit).map(runDocument), next: last?.id ?? null };
}
