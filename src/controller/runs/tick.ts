/** @module Does the work of each minute: checks that are due, runs without a job, and old rows. */
import { type SqlBool, sql } from "kysely";
import type { LiveConfig } from "../config/config.ts";
import { isAway, type Tx } from "../database/connect.ts";
import type { Queue } from "../queue/queue.ts";
import type { DecisionContext } from "./decide.ts";
import { noticeRestore } from "./restored.ts";
import {
  askForRun,
  beginWhatWasAsked,
  lockBoth,
  moveRun,
  outcome,
  planQueue,
  sendApplies,
  setManifest,
} from "./run-moves.ts";
import { transact } from "./seen-events.ts";
import { mayEndErrored } from "./transitions.ts";

/** Manifests that one tick begins at most, the rest is due at the next one; runs that it deletes. */
const [maxDue, maxForgotten] = [5_000, 10_000];

/** Checks that are begun at once: less than half of the connections of a process. */
const checksAtOnce = 4;

/** A run that is not waiting for a person and was not written since has perhaps no job. */
const forgottenSince = sql<Date>`now() - interval '2 minutes'`;

/** Days that ended runs are kept: those that changed something or failed, and those that did nothing. */
const [retentionDays, checkRetentionDays] = [90, 1];

/** Does all parts, also if one fails, unless the database may be a copy; rejects with the first error, after the others. */
export async function tick(context: DecisionContext & { readonly config: LiveConfig }): Promise<void> {
  await noticeRestore(context.database, { isStart: false });
  const errors: unknown[] = [];
  for (const part of [beginChecks, findForgotten, beginApproved, forget])
    await part(context, errors).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

// An index is of no use to a comparison with `clock_timestamp()`, which each row would ask anew.
const isDue = sql<SqlBool>`removed_at IS NULL AND next_due_at <= now()`;

/** A manifest whose check cannot be begun keeps no other one from its check; one whose row is locked is left to the next tick. */
async function beginChecks({ database, queue }: DecisionContext, errors: unknown[]): Promise<void> {
  const due = database.selectFrom("manifests").select("id").where(isDue).orderBy("next_due_at");
  const rest = (await due.limit(maxDue).execute()).values();
  // One after the other, those of a large fleet would take longer than a minute on a busy machine.
  const some = async (): Promise<void> => {
    for (const { id } of rest)
      try {
        await transact(database, (tx) => beginCheck(tx, queue, id));
      } catch (error) {
        errors.push(error);
        if (isAway(error)) return;
      }
  };
  await Promise.all(Array.from({ length: checksAtOnce }, some));
}

/** Begins the check of a manifest, and sets the next one: a whole number of intervals after the one that is due, never after the check. */
async function beginCheck(tx: Tx, queue: Queue, id: string): Promise<void> {
  const row = tx.selectFrom("manifests").selectAll().where("id", "=", id).where(isDue);
  const timed = row.select(sql<Date>`now()`.as("now")).forUpdate().skipLocked();
  const found = await timed.executeTakeFirst();
  if (found === undefined) return;
  const { now, ...manifest } = found;
  const interval = manifest.interval_seconds * 1000;
  const due = manifest.next_due_at.getTime();
  const next = new Date(due + Math.ceil((now.getTime() - due + 1) / interval) * interval);
  await setManifest(tx, id, { next_due_at: next });
  if (manifest.paused_until !== null && manifest.paused_until > now) return;
  await askForRun(tx, queue, manifest, { kind: "drift", trigger: "schedule", actor: "controller" });
}

/** Sends the jobs of runs that should have one. One that is queued or active is not sent again. */
async function findForgotten({ database, queue }: DecisionContext): Promise<void> {
  const open = database.selectFrom("runs").selectAll().where("ended_at", "is", null);
  const runs = open
    .where("status", "not in", ["needs_approval", "approved"])
    .where("updated_at", "<", forgottenSince)
    .orderBy("updated_at")
    .limit(1000);
  for (const { id, status, kind } of await runs.execute()) {
    const isPlanning = status === "pending" || status === "planning";
    const name = isPlanning ? planQueue(kind) : "apply";
    await database.transaction().execute((tx) => queue.send(tx, name, id, { run: id }));
  }
}

/** Sends the jobs of approved runs that may begin since a run was canceled, or the limit of their tenant was raised. */
async function beginApproved(context: Parameters<typeof tick>[0]): Promise<void> {
  const { database } = context;
  const open = database.selectFrom("runs").select("tenant").distinct().where("ended_at", "is", null);
  for (const { tenant } of await open.where("status", "=", "approved").execute())
    await database.transaction().execute((tx) => sendApplies(tx, context, tenant));
}

/** Ends the run of a job that failed too often, and begins the run that was requested meanwhile. */
export async function buryRun({ database, queue }: DecisionContext, id: string): Promise<void> {
  await transact(database, async (tx) => {
    const found = await lockBoth(tx, id);
    if (found === undefined || !mayEndErrored(found.run.status)) return;
    const why = "its job ended too often";
    await moveRun(tx, id, { from: found.run.status, to: "errored", why }, {}, outcome(1, [why]));
    await beginWhatWasAsked(tx, queue, found.manifest);
  });
}

/** Deletes old rows, the files of removed manifests, and runs that ended long ago; keeps the newest run of each manifest and that of the newest event, which shows a restored copy. */
async function forget({ database }: DecisionContext): Promise<void> {
  await sql`
    DELETE FROM graphform.runs WHERE id IN (
      SELECT r.id FROM graphform.runs r
      WHERE (r.ended_at < now() - make_interval(days => ${retentionDays}::integer)
          OR r.status IN ('planned_and_finished', 'blocked', 'superseded') AND r.ended_at < now() - make_interval(days => ${checkRetentionDays}::integer))
        AND r.id IS DISTINCT FROM (SELECT run_id FROM graphform.run_events ORDER BY id DESC LIMIT 1)
        AND r.created_at < (SELECT max(created_at) FROM graphform.runs n WHERE n.manifest_id = r.manifest_id)
      LIMIT ${maxForgotten})`.execute(database);
  await sql`
    DELETE FROM graphform.uploads u USING graphform.manifests m
    WHERE m.id = u.manifest_id AND m.removed_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM graphform.runs r WHERE r.manifest_id = m.id AND r.ended_at IS NULL)`.execute(
    database,
  );
  const old = sql<Date>`now() - interval '1 day'`;
  await database.deleteFrom("answers").where("at", "<", old).execute();
  await database.deleteFrom("workers").where("seen_at", "<", old).execute();
}
