/** @module Finds manifests and runs within what a caller may see; documents are made of their rows. */
import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import type { Database } from "../database/connect.ts";
import type { ManifestRow, RunRow, Schema } from "../database/schema.ts";
import type { ManifestStatus } from "./documents.ts";
import type { Call, Query } from "./endpoint.ts";
import { Problem } from "./problem.ts";
import type { Caller } from "./tokens.ts";

/** The tenants that a request is held within, one after the other: the caller's, and the one that it asks for. */
export function tenants(caller: Caller, { tenant }: Query): readonly string[] {
  return [caller.tenant, tenant].filter((name) => name !== null && name !== undefined);
}

/** Runs of a manifest that have not ended, in a query over `manifests`. */
const openRuns = sql`FROM graphform.runs w WHERE w.manifest_id = manifests.id AND w.ended_at IS NULL`;
/** The run that waits for an approval, and what the newest run that came to an end of its own says. */
const waiting = sql<
  string | null
>`(SELECT id ${openRuns} AND w.status = 'needs_approval' ORDER BY w.created_at DESC LIMIT 1)`;
const newest = (columns: string) => sql`(SELECT ${sql.raw(columns)}
  FROM graphform.runs w WHERE w.manifest_id = manifests.id AND w.ended_at IS NOT NULL
  AND (w.status NOT IN ('superseded', 'canceled', 'discarded') OR w.exit_code = 130) ORDER BY w.created_at DESC LIMIT 1)`;

/**
 * The state of a manifest, for a query over `manifests`. After an apply that was canceled, with the exit code 130, the next check knows. A
 * plan that went stale is no failure: the run that plans it again carries it on.
 */
export const statusOf: RawBuilder<ManifestStatus> = sql<ManifestStatus>`CASE
  WHEN ${waiting} IS NOT NULL THEN 'waiting'
  WHEN EXISTS (SELECT ${openRuns} AND w.status IN ('applying', 'converging')) THEN 'applying'
  WHEN EXISTS (SELECT ${openRuns} AND w.status = 'approved') THEN 'approved'
  WHEN manifests.trouble IS NOT NULL THEN 'errored'
  ELSE coalesce(
    CASE ${newest("status")} WHEN 'blocked' THEN 'blocked' WHEN 'errored' THEN 'errored' WHEN 'canceled' THEN 'unchecked'
      WHEN 'stale' THEN CASE WHEN EXISTS (SELECT ${openRuns}) THEN 'applying' ELSE 'errored' END END,
    CASE WHEN manifests.drifted_at IS NOT NULL THEN 'drifted'
      WHEN manifests.checked_at IS NULL OR manifests.approved_commit IS NULL THEN 'unchecked'
      ELSE 'in-sync' END) END`;

/** The reason of the newest state of a run that waits to begin, or to go on: who holds its lock, for example; and the others of its tenant at work. */
const whyOf = (name: string) => {
  const run = sql.raw(name);
  return sql<string | null>`CASE WHEN ${run}.status IN ('pending', 'approved', 'converging') THEN (
    SELECT e.event ->> 'why' FROM graphform.run_events e WHERE e.run_id = ${run}.id AND e.event ->> 'type' = 'status'
    ORDER BY e.id DESC LIMIT 1) || CASE WHEN ${run}.status = 'approved' THEN coalesce((
    SELECT '; ' || count(*) || ' of its tenant at work, of which maxConcurrent limits the number' FROM graphform.runs o
    WHERE o.tenant = ${run}.tenant AND o.ended_at IS NULL AND o.status IN ('applying', 'converging') HAVING count(*) > 0), '') ELSE '' END END`;
};
const failure = newest("CASE WHEN status IN ('blocked', 'errored', 'stale') THEN reasons ->> 0 END");
/** The reason of an open run; if it has none, and none is past planning, that of the newest run that was blocked, failed or went stale. */
const whyOfAny = sql<string | null>`coalesce(
  (SELECT ${whyOf("w")} ${openRuns} ORDER BY w.status IN ('approved', 'converging') DESC, w.created_at DESC LIMIT 1),
  CASE WHEN NOT EXISTS (SELECT ${openRuns} AND w.status NOT IN ('pending', 'planning')) THEN ${failure} END)`;

type Found<Table extends "manifests" | "runs", Row> = SelectQueryBuilder<Schema, Table, Row>;
type ManifestFound = ManifestRow & {
  readonly status: ManifestStatus;
  readonly waiting_run: string | null;
  readonly why: string | null;
};
type RunFound = RunRow & { readonly manifest: string; readonly why: string | null };

/** Manifests that were not removed, of these tenants: of all if the list is empty, of none if it names two. */
export function manifestsOf(
  database: Database,
  within: readonly string[],
): Found<"manifests", ManifestFound> {
  const kept = database.selectFrom("manifests").selectAll().where("removed_at", "is", null);
  let query = kept.select([statusOf.as("status"), waiting.as("waiting_run"), whyOfAny.as("why")]);
  for (const tenant of within) query = query.where("tenant", "=", tenant);
  return query;
}

/** Runs of these tenants, with those of manifests that were removed. */
export function runsOf(database: Database, within: readonly string[]): Found<"runs", RunFound> {
  const manifest = sql<string>`(SELECT name FROM graphform.manifests m WHERE m.id = runs.manifest_id)`;
  let query = database
    .selectFrom("runs")
    .selectAll()
    .select([manifest.as("manifest"), whyOf("runs").as("why")]);
  for (const tenant of within) query = query.where("tenant", "=", tenant);
  return query;
}

/** The manifest of a path. Throws `not-found`; manifests of other tenants are not looked up. */
export async function findManifest(call: Pick<Call, "context" | "caller" | "path">): Promise<ManifestFound> {
  const { tenant = "", name = "" } = call.path;
  const within = manifestsOf(call.context.database, tenants(call.caller, { tenant }));
  return found(await within.where("name", "=", name).executeTakeFirst());
}

/** The run of a path. Throws `not-found`, also for another tenant's. */
export async function findRun({ context, caller, path: { run = "" } }: Call): Promise<RunFound> {
  return found(await runsOf(context.database, tenants(caller, {})).where("id", "=", run).executeTakeFirst());
}

export function found<T>(row: T | undefined, detail?: string): T {
  if (row === undefined) throw new Problem("not-found", detail);
  return row;
}

/** The first rows of a query, at most as many as were asked for, and the `after` of the next page if there are more. */
export async function pageOf<Row>(
  query: { limit(count: number): { execute(): Promise<Row[]> } },
  { limit = 100 }: Query,
  nameOf: (row: Row) => string,
): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }> {
  const rows = await query.limit(limit + 1).execute();
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), next: last === undefined ? null : nameOf(last) };
}

/** A page of manifests in the order of their names, after `after`. */
export async function manifestPage(query: Found<"manifests", ManifestFound>, asked: Query): Promise<object> {
  const [tenant = "", name = ""] = asked.after?.split("/") ?? [];
  const later = query.where(sql<SqlBool>`(tenant, name) > (${tenant}, ${name})`);
  const ordered = later.orderBy("tenant").orderBy("name");
  const { rows, next } = await pageOf(ordered, asked, (row) => `${row.tenant}/${row.name}`);
  return { manifests: rows, next };
}

/** A page of runs, newest first, older than the run `after`. */
export async function runPage(query: Found<"runs", RunFound>, asked: Query): Promise<object> {
  const { after } = asked;
  const older = sql<SqlBool>`(created_at, id) < (SELECT r.created_at, r.id FROM graphform.runs r WHERE r.id = ${after}::uuid)`;
  const ordered = query.orderBy("created_at", "desc").orderBy("id", "desc");
  const asking = after === undefined ? ordered : ordered.where(older);
  const { rows, next } = await pageOf(asking, asked, ({ id }) => id);
  return { runs: rows, next };
}
