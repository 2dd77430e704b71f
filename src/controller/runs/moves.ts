/** @module Locks the rows of manifests and runs, and moves a run from one state to another if it is still in the first one. */
import type { Updateable } from "kysely";
import type { Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow, Schema } from "../database/schema.ts";
import { type Follower, isEnd, type RunEvent, type RunStatus } from "./transitions.ts";

/** A condition on the row of a move: the fence of the worker that writes, or the fingerprint of the plan that is approved. */
export interface Condition {
  readonly fence?: number;
  readonly fingerprint?: string;
}

/** Columns that a move sets beside the state. */
type Columns = Omit<Updateable<Schema["runs"]>, "id" | "status" | "manifest_id">;

/** Columns of a run that has ended: the exit code that `apply` would have had, and why. */
export function outcome(
  exitCode: number,
  reasons: readonly string[],
): Pick<Columns, "exit_code" | "reasons"> {
  return { exit_code: exitCode, reasons: JSON.stringify(reasons) };
}

/**
 * Moves a run; false if its row is not in the state `from`, or does not meet the condition: then nothing was written. The event of the
 * move is written in the same transaction.
 */
export async function moveRun<S extends RunStatus>(
  tx: Tx,
  run: string,
  way: { readonly from: S; readonly to: Follower<S>; readonly why?: string },
  condition: Condition = {},
  columns: Columns = {},
): Promise<boolean> {
  const { from, to, why } = way;
  const now = new Date();
  let update = tx
    .updateTable("runs")
    .set({ ...columns, status: to, updated_at: now, ...(isEnd(to) ? { ended_at: now } : {}) })
    .where("id", "=", run)
    .where("status", "=", from);
  if (condition.fence !== undefined) update = update.where("fence", "=", condition.fence);
  if (condition.fingerprint !== undefined) update = update.where("fingerprint", "=", condition.fingerprint);
  const { numUpdatedRows } = await update.executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  await tx
    .insertInto("run_events")
    .values({
      run_id: run,
      event: JSON.stringify({
        type: "status",
        from,
        to,
        ...(why === undefined ? {} : { why }),
      } satisfies RunEvent),
    })
    .execute();
  return true;
}

/**
 * Adds events of a worker to the log of its run; false if the run is another worker's by now. The row is locked first, so that the
 * events of a run are committed in the order of their ids.
 */
export async function addEvents(
  tx: Tx,
  run: string,
  fence: number,
  events: readonly RunEvent[],
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("runs")
    .set({ updated_at: new Date() })
    .where("id", "=", run)
    .where("fence", "=", fence)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  const rows = events.map((event) => ({ run_id: run, event: JSON.stringify(event) }));
  if (rows.length > 0) await tx.insertInto("run_events").values(rows).execute();
  return true;
}

/**
 * Reads a manifest and locks its row until the end of the transaction. Everything that depends on the manifest does it first, in this
 * statement of its own: what is read afterwards is as new as the lock.
 */
export async function lockManifest(tx: Tx, manifest: string): Promise<ManifestRow | undefined> {
  return tx.selectFrom("manifests").selectAll().where("id", "=", manifest).forUpdate().executeTakeFirst();
}

/** Locks the manifest of a run, and then the run; undefined if there is no such run. */
export async function lockBoth(
  tx: Tx,
  id: string,
): Promise<{ readonly manifest: ManifestRow; readonly run: RunRow } | undefined> {
  const found = await tx.selectFrom("runs").select("manifest_id").where("id", "=", id).executeTakeFirst();
  const manifest = found && (await lockManifest(tx, found.manifest_id));
  const run = manifest && (await lockRun(tx, id));
  return manifest === undefined || run === undefined ? undefined : { manifest, run };
}

/** Reads a run and locks its row until the end of the transaction; undefined if there is none. */
export async function lockRun(tx: Tx, run: string): Promise<RunRow | undefined> {
  return tx.selectFrom("runs").selectAll().where("id", "=", run).forUpdate().executeTakeFirst();
}
