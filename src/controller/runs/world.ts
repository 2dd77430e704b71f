/** @module Provides what the jobs of a worker share: transactions, checkouts, and the ways in which a job ends. */
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import pRetry from "p-retry";
import type { ControllerConfig, LiveConfig } from "../config/config.ts";
import type { Database, Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import type { Fetched, Queue } from "../queue/queue.ts";
import { checkOut } from "../sources/source.ts";
import { tenantWorld } from "../sources/tenant-world.ts";
import { beginWhatWasAsked } from "./ask-for-run.ts";
import type { Company } from "./company.ts";
import type { Order } from "./orders.ts";
import type { Threads } from "./threads.ts";
import { atWork } from "./transitions.ts";

export interface WorkerWorld {
  /** The worker's own id: a new one for each start. */
  readonly id: string;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly queue: Queue;
  readonly config: LiveConfig;
  readonly threads: Threads;
  readonly company: Company;
  /** Aborted when the worker is told to stop: runs reach their next boundary and are put back. */
  readonly stopping: AbortSignal;
}

/** Times that a run is taken in a row, without progress, before it is given up. */
export const maxAttempts = 6;

/** A run that was taken as often as this may be what kills its workers: it runs alone. */
export const suspectAfter = 3;

/** A job of one of the queues that carry out runs. */
export type RunJob = Fetched<"plan" | "drift" | "apply"> & { readonly queue: "plan" | "drift" | "apply" };

/** A run that this worker has taken for a job, with its manifest as it was then. */
export interface Taken {
  readonly job: RunJob;
  readonly run: RunRow;
  readonly manifest: ManifestRow;
  /** True if an earlier worker had begun it. */
  readonly isResumed: boolean;
}

/** Does something in a transaction, again and again while the database is away: until it answers, or the worker stops. */
export async function inTransaction<T>(
  { database, stopping }: WorkerWorld,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return pRetry(() => database.transaction().execute(work), {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 500,
    maxTimeout: 5_000,
    shouldRetry: ({ error }) => isAway(error) && !stopping.aborted,
  });
}

/** True for an error that says nothing about the statement: a lost connection, a server that starts or ends, a deadlock. */
function isAway(error: unknown): boolean {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  return !/^[0-9A-Z]{5}$/.test(code) || /^(08|40|53|57)/.test(code);
}

/** Gives a job back for later; part of a transaction. The run stays as it is, or as the caller has moved it. */
export async function putBack(tx: Tx, queue: Queue, job: RunJob, ms: number): Promise<void> {
  await queue.complete(tx, job.queue, job);
  await queue.send(tx, job.queue, job.data.run, job.data, ms);
}

/** Ends the work of a job on a run that has moved to an end; part of the transaction of that move. */
export async function endJob(
  tx: Tx,
  { queue, config }: Pick<WorkerWorld, "queue" | "config">,
  { job, manifest }: Pick<Taken, "job" | "manifest">,
): Promise<void> {
  await queue.complete(tx, job.queue, job);
  await beginWhatWasAsked(tx, queue, manifest);
  // Without receivers there is nothing to tell: most checks end here.
  if (Object.keys(config.current().webhooks).length > 0)
    await queue.send(tx, "notify", manifest.id, { manifest: manifest.id });
}

/** True if another run of the manifest is at work. Its row is locked, and nothing begins without that lock. */
export async function isOtherAtWork(tx: Tx, manifest: string, run: string): Promise<boolean> {
  const other = await tx
    .selectFrom("runs")
    .select("id")
    .where("manifest_id", "=", manifest)
    .where("status", "in", atWork)
    .where("id", "!=", run)
    .executeTakeFirst();
  return other !== undefined;
}

/** The tenants that use the same service, this one among them: each sees the objects of the others in its lists. */
export function besides({ tenants }: ControllerConfig, tenant: string): readonly string[] {
  const service = tenants[tenant]?.service;
  return Object.keys(tenants).filter((other) => isDeepStrictEqual(tenants[other]?.service, service));
}

/**
 * Ids of the objects that other states of these tenants bind. They matter only if objects of this state may be unknown: it was never
 * written, has open creates, or is about to get some. Then every state of the tenants is read.
 */
async function boundElsewhere(
  database: Database,
  tenants: readonly string[],
  name: string,
  creates: boolean,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    WITH mine AS (SELECT document::jsonb AS document FROM graphform.states WHERE name = ${name}),
    others AS (
      SELECT jsonb_path_query(document::jsonb, '$.resources.*.id') #>> '{}' AS id FROM graphform.states
      WHERE split_part(name, '/', 1) = ANY(${tenants}) AND name <> ${name}
        AND (${creates} OR NOT EXISTS (SELECT FROM mine WHERE document -> 'intents' = '{}' AND document -> 'resources' <> '{}'))
    )
    SELECT DISTINCT id FROM others EXCEPT SELECT jsonb_path_query(document, '$.resources.*.id') #>> '{}' FROM mine`.execute(
    database,
  );
  return rows.map(({ id }) => id);
}

/** Checks out a commit of a manifest, does the work with the order for a thread, and removes the checkout. */
export async function withCheckout<T>(
  world: WorkerWorld,
  manifest: ManifestRow,
  {
    commit,
    signal,
    creates = false,
  }: { readonly commit: string; readonly signal: AbortSignal; readonly creates?: boolean },
  work: (order: Order) => Promise<T>,
): Promise<T> {
  const config = world.config.current();
  const checkout = await checkOut(manifest, commit, config, signal);
  try {
    const { env, limits, service } = await tenantWorld(manifest.tenant, config, process.env, checkout.folder);
    const name = `${manifest.tenant}/${manifest.name}`;
    return await work({
      files: checkout.files,
      env: { ...env, GRAPHFORM_STATE_POSTGRES_URL: world.databaseUrl },
      limits,
      service,
      state: `postgres:///?${new URLSearchParams({ name })}`,
      boundElsewhere: await boundElsewhere(world.database, besides(config, manifest.tenant), name, creates),
    });
  } finally {
    await checkout.remove();
  }
}

/** Counts one more of something in the row of a worker, for the metrics. */
export async function countFor(
  database: Database | Tx,
  worker: string,
  what: "takeovers" | "fenced",
): Promise<void> {
  await database
    .updateTable("workers")
    .set((row) => ({ [what]: row(what, "+", 1) }))
    .where("id", "=", worker)
    .execute();
}
