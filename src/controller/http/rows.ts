/** @module Reads manifests and runs as the documents of the API, within what a caller may see. */
import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import type { Database } from "../database/connect.ts";
import type { ManifestRow, RunRow, Schema } from "../database/schema.ts";
import type { ManifestStatus } from "./documents.ts";
import type { Call, Query } from "./endpoint.ts";
import { Problem } from "./problem.ts";
import type { Caller } from "./tokens.ts";

/** Documents of a page if the request says nothing. */
const usualPage = 100;

/** The tenants that a request is held within, one after the other: the caller's, and the one that it asks for. */
export function tenants(caller: Caller, { tenant }: Query): readonly string[] {
  return [caller.tenant, tenant].filter((name) => name !== null && name !== undefined);
}

/** The run that waits for an approval, and the newest run of a manifest that came to an end of its own. */
const waiting = sql<
  string | null
>`(SELECT id FROM graphform.runs w WHERE w.manifest_id = manifests.id AND w.ended_at IS NULL
  AND w.status = 'needs_approval' ORDER BY w.created_at DESC LIMIT 1)`;
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

const manifestColumns = [
  ...([
    "id",
    "tenant",
    "name",
    "source",
    "auto",
    "interval_seconds",
    "commit",
    "approved_commit",
    "trouble",
  ] as const),
  ...(["next_due_at", "checked_at", "drifted_at", "paused_until", "created_at"] as const),
] as const;
const runColumns = [
  ...([
    "id",
    "tenant",
    "kind",
    "trigger",
    "status",
    "commit",
    "fingerprint",
    "verdict",
    "reasons",
    "counts",
  ] as const),
  ...([
    "exit_code",
    "actor",
    "worker",
    "cancel_requested_at",
    "created_at",
    "updated_at",
    "ended_at",
  ] as const),
] as const;

type Found<Table extends "manifests" | "runs", Row> = SelectQueryBuilder<Schema, Table, Row>;
type ManifestFound = Omit<ManifestRow, "upload" | "generation" | "dirty" | "removed_at"> & {
  readonly status: ManifestStatus;
  readonly waiting_run: string | null;
};
type UnseenOfRun = "manifest_id" | "generation" | "fence" | "attempts" | "plan" | "cancel_forced";
type RunFound = Omit<RunRow, UnseenOfRun> & { readonly manifest: string };

/** Manifests that were not removed, of these tenants: of all if the list is empty, of none if it names two. */
export function manifestsOf(
  database: Database,
  within: readonly string[],
): Found<"manifests", ManifestFound> {
  let query = database
    .selectFrom("manifests")
    .select([...manifestColumns, statusOf.as("status"), waiting.as("waiting_run")])
    .where("removed_at", "is", null);
  for (const tenant of within) query = query.where("tenant", "=", tenant);
  return query;
}

/** Runs of these tenants, with those of manifests that were removed. */
export function runsOf(database: Database, within: readonly string[]): Found<"runs", RunFound> {
  const manifest = sql<string>`(SELECT name FROM graphform.manifests m WHERE m.id = runs.manifest_id)`;
  let query = database.selectFrom("runs").select([...runColumns, manifest.as("manifest")]);
  for (const tenant of within) query = query.where("tenant", "=", tenant);
  return query;
}

/** The manifest of a path. Throws `not-found`; what is another tenant's is not looked for. */
export async function findManifest({
  world,
  caller,
  path,
}: Pick<Call, "world" | "caller" | "path">): Promise<ManifestFound> {
  const { tenant = "", name = "" } = path;
  const within = manifestsOf(world.database, tenants(caller, { tenant }));
  const found = await within.where("name", "=", name).executeTakeFirst();
  if (found === undefined) throw new Problem("not-found");
  return found;
}

/** The run of a path. Throws `not-found`, also for another tenant's. */
export async function findRun({ world, caller, path: { run = "" } }: Call): Promise<RunFound> {
  const found = await runsOf(world.database, tenants(caller, {})).where("id", "=", run).executeTakeFirst();
  if (found === undefined) throw new Problem("not-found");
  return found;
}

/** A row as a document: `ended_at` is `endedAt`. */
export function documentOf(row: object): { readonly [member: string]: unknown } {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

/** The first `limit` of the rows as documents, and the `after` of the next page, if there are more. */
export function pageOf<Row extends object>(
  rows: readonly Row[],
  { limit = usualPage }: Query,
  nameOf: (row: Row) => string,
): { readonly documents: readonly object[]; readonly next: string | null } {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { documents: rows.slice(0, limit).map(documentOf), next: last === undefined ? null : nameOf(last) };
}

/** A page of manifests in the order of their names, after `after`. */
export async function manifestPage(
  query: Found<"manifests", ManifestFound>,
  asked: Query,
): Promise<{ readonly manifests: readonly object[]; readonly next: string | null }> {
  const [tenant = "", name = ""] = asked.after?.split("/") ?? [];
  const rows = await query
    .where(sql<SqlBool>`(tenant, name) > (${tenant}, ${name})`)
    .orderBy("tenant")
    .orderBy("name")
    .limit((asked.limit ?? usualPage) + 1)
    .execute();
  const { documents, next } = pageOf(rows, asked, (row) => `${row.tenant}/${row.name}`);
  return { manifests: documents, next };
}

/** A page of runs, newest first, older than the run `after`. */
export async function runPage(
  query: Found<"runs", RunFound>,
  asked: Query,
): Promise<{ readonly runs: readonly object[]; readonly next: string | null }> {
  const { after = null, limit = usualPage } = asked;
  const older = sql<SqlBool>`(created_at, id) < (SELECT r.created_at, r.id FROM graphform.runs r WHERE r.id = ${after}::uuid)`;
  const some = after === null ? query : query.where(older);
  const rows = await some
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const { documents, next } = pageOf(rows, asked, ({ id }) => id);
  return { runs: documents, next };
}
