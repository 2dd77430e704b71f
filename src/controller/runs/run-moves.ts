/** @module Locks the rows of manifests and runs, moves runs from one state to another, and begins them. */
import { sql, type Updateable } from "kysely";
import type { LiveConfig } from "../config/config.ts";
import { type Database, databaseClock, type Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow, Schema } from "../database/schema.ts";
import type { Queue } from "../queue/queue.ts";
import { insertSeen } from "./seen-events.ts";
import { atWork, isEnd, making, type RunEvent, type Way } from "./transitions.ts";
import type { PlanDocument } from "./verdict.ts";

export type Columns = Omit<Updateable<Schema["runs"]>, "id" | "status" | "manifest_id">;

/** Columns of a run that has ended: the exit code that `apply` would have had, and why. */
export function outcome(exitCode: number, reasons: readonly string[]): Columns {
  return { exit_code: exitCode, reasons: jsonText(reasons) };
}

/**
 * Moves a run; false if its row is not in the state `from`, or has not the fence of the worker that writes, or the fingerprint that is
 * approved: then nothing was written. The event of the move is written in the same transaction.
 */
export async function moveRun(
  tx: Tx,
  run: string,
  way: Way,
  condition: Partial<Pick<RunRow, "fence" | "fingerprint">> = {},
  columns: Columns = {},
): Promise<boolean> {
  const { from, to } = way;
  const ended = isEnd(to) ? { ended_at: databaseClock } : {};
  const { numUpdatedRows } = await tx
    .updateTable("runs")
    .set({ ...columns, status: to, updated_at: databaseClock, ...ended })
    .where((where) => where.and({ id: run, status: from, ...condition }))
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  await insertEvents(tx, run, [{ type: "status", ...way }]);
  return true;
}

/** Adds events of a worker to the log of its run; false if it is another worker's by now. The locked row keeps them in the order of their ids. */
export async function addEvents(
  tx: Tx,
  run: string,
  fence: number,
  events: readonly RunEvent[],
  columns: Columns = {},
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("runs")
    .set({ ...columns, updated_at: databaseClock })
    .where((where) => where.and({ id: run, fence }))
    .where("ended_at", "is", null)
    .executeTakeFirst();
  if (numUpdatedRows === 1n && events.length > 0) await insertEvents(tx, run, events);
  return numUpdatedRows === 1n;
}

/** The text of a value as PostgreSQL takes it for JSON: without NUL and without halves of pairs, which a service's message may have. */
function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "string" ? part.toWellFormed().replaceAll("\0", "") : part,
  );
}

async function insertEvents(tx: Tx, run: string, events: readonly RunEvent[]): Promise<void> {
  const rows = events.map((event) => ({ run_id: run, event: jsonText(event) }));
  await insertSeen(tx, rows);
}

export async function storePlan(tx: Tx, run: string, plan: PlanDocument): Promise<void> {
  const document = JSON.stringify(plan);
  const row = tx.insertInto("plans").values({ run_id: run, document });
  await row.onConflict((conflict) => conflict.column("run_id").doUpdateSet({ document })).execute();
}

/**
 * Reads a manifest and locks its row until the end of the transaction. Everything that depends on the manifest does it first, in this
 * statement of its own: later reads are as new as the lock.
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
  const run = await tx.selectFrom("runs").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  return manifest === undefined || run === undefined ? undefined : { manifest, run };
}

export async function setManifest(
  tx: Tx,
  id: string,
  columns: Updateable<Schema["manifests"]>,
): Promise<ManifestRow> {
  const changed = tx.updateTable("manifests").set(columns).where("id", "=", id);
  return changed.returningAll().executeTakeFirstOrThrow();
}
export async function setRun(tx: Tx, id: string, columns: Columns): Promise<void> {
  await tx.updateTable("runs").set(columns).where("id", "=", id).execute();
}

/** The runs of a manifest that have not ended, newest first. */
export async function openRuns(at: Tx | Database, manifest: string): Promise<readonly RunRow[]> {
  const runs = at.selectFrom("runs").selectAll().where("manifest_id", "=", manifest);
  return runs.where("ended_at", "is", null).orderBy("created_at", "desc").execute();
}

/** The runs of a manifest that wait for an approval, of one kind or all. */
export async function waitingRuns(tx: Tx, id: string, kind?: RunRow["kind"]): Promise<readonly RunRow[]> {
  const waiting = (await openRuns(tx, id)).filter(({ status }) => status === "needs_approval");
  return kind === undefined ? waiting : waiting.filter((run) => run.kind === kind);
}

/** A newer plan replaces those that wait for an approval: they are outdated. */
export async function supersede(tx: Tx, waiting: readonly RunRow[]): Promise<void> {
  for (const { id } of waiting)
    await moveRun(tx, id, { from: "needs_approval", to: "superseded", why: "a newer plan was made" });
}

/** Notes that a commit begins to be applied, or was found to be in force: drift is healed to it from now on. */
export async function setApproved(tx: Tx, manifest: ManifestRow, commit: string | null): Promise<void> {
  if (commit === null || commit === manifest.approved_commit) return;
  await setManifest(tx, manifest.id, { approved_commit: commit });
  await dropUploads(tx, manifest.id);
}

/** The reason why the plan of a run is outdated, and the run that replaces it; undefined if it is current. */
export function overtaken(
  { kind, commit, generation }: Pick<RunRow, "kind" | "commit" | "generation">,
  manifest: ManifestRow,
): { readonly why: string; readonly asking?: Asking } | undefined {
  if (kind === "drift")
    return commit === manifest.approved_commit ? undefined : { why: "another commit was applied meanwhile" };
  if (generation >= manifest.generation) return undefined;
  return { why: "the manifest has changed meanwhile", asking: newerManifest };
}

/** Deletes the files of uploads that are neither the newest nor the approved ones. */
export async function dropUploads(tx: Tx, manifest: string): Promise<void> {
  await sql`DELETE FROM graphform.uploads u USING graphform.manifests m WHERE m.id = ${manifest} AND u.manifest_id = m.id
    AND u.digest IS DISTINCT FROM m.commit AND u.digest IS DISTINCT FROM m.approved_commit`.execute(tx);
}

/** Number of runs of a tenant that may begin to apply now. The tenant's row stays locked, so that two workers never let in one too many. */
export async function freeApplies(tx: Tx, config: LiveConfig, tenant: string): Promise<number> {
  // Not FOR UPDATE: a manifest that is changed twice in a transaction keeps others from that, and two such would wait for each other.
  await tx.selectFrom("tenants").select("name").where("name", "=", tenant).forNoKeyUpdate().execute();
  const open = tx.selectFrom("runs").where("tenant", "=", tenant).where("ended_at", "is", null);
  const { count } = await open
    .where("status", "in", making)
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return (config.current().tenants[tenant]?.maxConcurrent ?? 1) - count;
}

/**
 * Sends the jobs of the approved runs of a tenant that may begin now, the longest waiting first. The others have no job until an apply of
 * the tenant ends: jobs that come again and again would keep the workers from the runs of other tenants.
 */
export async function sendApplies(
  tx: Tx,
  { queue, config }: { readonly queue: Queue; readonly config: LiveConfig },
  tenant: string,
): Promise<void> {
  const free = await freeApplies(tx, config, tenant);
  if (free < 1) return;
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM graphform.runs r WHERE tenant = ${tenant} AND ended_at IS NULL AND status = 'approved' AND NOT EXISTS (
      SELECT FROM graphform.runs o WHERE o.manifest_id = r.manifest_id AND o.ended_at IS NULL AND o.status = ANY(${atWork}))
    ORDER BY updated_at LIMIT ${free}`.execute(tx);
  for (const { id } of rows) await queue.send(tx, "apply", id, { run: id });
}

export type Asking = Pick<RunRow, "kind" | "trigger" | "actor">;

/** The wish of the controller itself, when a manifest has changed while a run of it was under way. */
export const newerManifest: Asking = { kind: "reconcile", trigger: "commit", actor: "controller" };

/**
 * Asks for a run of a manifest whose row is locked. Resolves with its id, or with that of the run that will do the work. A check that is
 * due is left out while a run is at work; another request waits, and its run begins in the transaction that ends the present one.
 */
export async function askForRun(
  tx: Tx,
  queue: Queue,
  manifest: ManifestRow,
  asking: Asking,
): Promise<string> {
  const open = await openRuns(tx, manifest.id);
  const waiting = open.find(
    ({ status, kind }) => status === "pending" && (kind === asking.kind || asking.kind === "drift"),
  );
  if (waiting !== undefined) return waiting.id;
  const busy = open.find(({ status }) => status !== "pending" && status !== "needs_approval");
  if (busy !== undefined) {
    if (asking.kind === "reconcile") await setManifest(tx, manifest.id, { dirty: true });
    return busy.id;
  }
  for (const { id, status, generation } of open)
    if (status === "needs_approval" && generation < manifest.generation)
      await moveRun(tx, id, { from: status, to: "superseded", why: "the manifest has changed" });
  const { id: manifest_id, tenant, commit, generation } = manifest;
  const { id } = await tx
    .insertInto("runs")
    .values({ ...asking, manifest_id, tenant, status: "pending", commit, generation })
    .returning("id")
    .executeTakeFirstOrThrow();
  await insertEvents(tx, id, [{ type: "status", to: "pending" }]);
  await queue.send(tx, planQueue(asking.kind), id, { run: id });
  return id;
}

/** The queue of runs of a kind that are to be planned: checks have one of their own. */
export function planQueue(kind: RunRow["kind"]): "drift" | "plan" {
  return kind === "drift" ? "drift" : "plan";
}

/** Begins the run that was asked for while another one was at work; part of the transaction that ends that one. */
export async function beginWhatWasAsked(
  tx: Tx,
  queue: Queue,
  manifest: ManifestRow,
  asking: Asking | undefined = manifest.dirty ? newerManifest : undefined,
): Promise<void> {
  if (asking === undefined || manifest.removed_at !== null) return;
  await setManifest(tx, manifest.id, { dirty: false });
  await askForRun(tx, queue, manifest, asking);
}
