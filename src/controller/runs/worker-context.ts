/** @module Provides what the jobs of a worker share: its parts, its transactions, and the gate through which runs enter its process. */
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import pRetry from "p-retry";
import type { LiveConfig } from "../config/config.ts";
import { type Database, isAway, type Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import type { Fetched, Queue } from "../queue/queue.ts";
import { transact } from "./seen-events.ts";
import type { Threads } from "./thread-pool.ts";
import type { RunStatus } from "./transitions.ts";

export interface WorkerContext {
  /** The worker's own id: a new one for each start. */
  readonly id: string;
  readonly database: Database;
  /** With its login: states are kept there. */
  readonly databaseUrl: string;
  readonly queue: Queue;
  readonly config: LiveConfig;
  readonly threads: Threads;
  readonly enter: Gate;
  /** Aborted when the worker is told to stop: runs reach their next boundary and are put back. */
  readonly stopping: AbortSignal;
}

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
  { database, stopping }: WorkerContext,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return pRetry(() => transact(database, work), {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 500,
    maxTimeout: 5_000,
    shouldRetry: ({ error }) => isAway(error) && !stopping.aborted,
  });
}

/** Ends of a run that may have made something. */
const afterApply: readonly RunStatus[] = ["applied", "stale", "canceled", "errored"];

/** Number of other runs in these states, of a manifest or of tenants; `withEnded`: also those that ended after an apply since it began to plan. */
export async function countOthers(
  tx: Tx,
  run: string,
  [column, values]: readonly ["manifest_id" | "tenant", readonly string[]],
  statuses: readonly RunStatus[],
  withEnded = false,
): Promise<number> {
  const planned = sql<Date>`(SELECT max(at) FROM graphform.run_events WHERE run_id = ${run} AND event ->> 'to' = 'planning')`;
  const others = tx.selectFrom("runs").where(column, "in", values).where("id", "!=", run);
  const { count } = await others
    .where((where) =>
      where.or([
        where("status", "in", statuses),
        ...(withEnded
          ? [where.and([where("status", "in", afterApply), where("ended_at", ">=", planned)])]
          : []),
      ]),
    )
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

/** Counts one more of something in the row of a worker, for the metrics. */
export async function countFor(
  database: Database | Tx,
  worker: string,
  what: "takeovers" | "fenced",
): Promise<void> {
  const row = database.updateTable("workers").where("id", "=", worker);
  await row.set((column) => ({ [what]: column(what, "+", 1) })).execute();
}

/**
 * Lets a run into the process; undefined if it must come later. A suspect, which may be what kills its workers, runs alone, so that no
 * other one is charged with the next death: it waits until the others have left. The result is called when the run has left.
 */
export type Gate = (isSuspect: boolean) => Promise<(() => void) | undefined>;

/** `patience`: longest wait of a suspect, in ms. */
export function openGate(patience: number): Gate {
  let inside = 0;
  let isSolo = false;
  return async (isSuspect) => {
    if (isSolo) return undefined;
    if (isSuspect) {
      isSolo = true;
      for (const end = performance.now() + patience; inside > 0 && performance.now() < end; )
        await delay(100);
      isSolo = inside === 0;
      if (!isSolo) return undefined;
    }
    inside += 1;
    return () => {
      inside -= 1;
      if (isSuspect) isSolo = false;
    };
  };
}
