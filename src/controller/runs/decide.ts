/** @module Carries out what people decide about runs and manifests: each decision is one transaction, with its entry in the audit log. */
import { sql } from "kysely";
import { addAudit } from "../database/audit.ts";
import { type Database, databaseClock, databaseTime, type Tx } from "../database/connect.ts";
import type { ManifestRow, NewManifest, RunRow, Source, Upload } from "../database/schema.ts";
import { digestOf } from "../digest.ts";
import type { Queue } from "../queue/queue.ts";
import { uploadDigest } from "../sources/git.ts";
import {
  type Asking,
  askForRun,
  beginWhatWasAsked,
  dropUploads,
  lockBoth,
  lockManifest,
  moveRun,
  openRuns,
  overtaken,
  setManifest,
  setRun,
} from "./run-moves.ts";
import { transact } from "./seen-events.ts";
import { isEnd } from "./transitions.ts";

export interface DecisionContext {
  readonly database: Database;
  readonly queue: Queue;
}

/** The reason for which a decision was not taken: the run or manifest has another state than the caller has seen. */
export interface Refused {
  readonly refused: "not-found" | "not-waiting" | "changed" | "ended" | "too-early" | "exists" | "from-git";
  readonly message: string;
}

/** The run or the manifest that a decision is about, and the one who takes it. */
export interface About {
  readonly id: string;
  readonly actor: string;
}

/** A decision, with its terms. */
export type Decision<Terms = object, T = string> = (
  context: DecisionContext,
  about: About & Terms,
) => Promise<T | Refused>;

/** A transaction with the locked rows; `audit` adds the entry of the log, as the last statement, and lets receivers of webhooks be told. */
interface Locked {
  readonly tx: Tx;
  readonly queue: Queue;
  readonly manifest: ManifestRow;
  readonly actor: string;
  readonly audit: (action: string, details?: object) => Promise<void>;
}

function decision<Rows extends Pick<Locked, "manifest">, Terms, T extends string | object>(
  find: (tx: Tx, id: string) => Promise<Rows | undefined>,
  decide: (locked: Locked & Rows, terms: Terms) => Promise<T | Refused>,
): Decision<Terms, T> {
  return async ({ database, queue }, about) =>
    transact(database, async (tx) => {
      const { id, actor } = about;
      const rows = await find(tx, id);
      if (rows === undefined) return refused("not-found", "it is not there any more");
      const { tenant, name, id: own } = rows.manifest;
      const audit: Locked["audit"] = async (action, details) => {
        await queue.send(tx, "notify", own, { manifest: own });
        const act = { tenant, actor, action, subject: id === own ? name : id };
        return addAudit(tx, { ...act, details: { manifest: name, ...details } });
      };
      return decide({ ...rows, tx, queue, actor, audit }, about);
    });
}

async function lockKept(tx: Tx, id: string): Promise<Pick<Locked, "manifest"> | undefined> {
  const manifest = await lockManifest(tx, id);
  return manifest === undefined || manifest.removed_at !== null ? undefined : { manifest };
}

function refused(code: Refused["refused"], message: string): Refused {
  return { refused: code, message };
}

/** Approves exactly the plan with this fingerprint: the run goes on, and once it begins, its commit is what drift is healed to. */
export const approveRun: Decision<{ readonly fingerprint: string }> = decision(
  lockBoth,
  async ({ tx, queue, manifest, run, actor, audit }, { fingerprint }) => {
    const { id, status } = run;
    if (status !== "needs_approval") return notWaiting(run, "for an approval");
    if (run.fingerprint !== fingerprint)
      return refused("changed", "the plan of this run has another fingerprint");
    const newer = overtaken(run, manifest);
    if (newer !== undefined) {
      await moveRun(tx, id, { from: status, to: "superseded", why: newer.why });
      await beginWhatWasAsked(tx, queue, manifest, newer.asking);
      return refused("changed", `${newer.why}: this plan is not carried out`);
    }
    await note(tx, run, actor, "approve");
    await moveRun(tx, id, { from: status, to: "approved", why: `approved by ${actor}` }, { fingerprint });
    await queue.send(tx, "apply", id, { run: id });
    await audit("approve", { fingerprint });
    return "approved";
  },
);

/** Ends a run that waits, or was approved and has not begun. */
export const discardRun: Decision = decision(lockBoth, async ({ tx, queue, manifest, run, actor, audit }) => {
  const { id, status } = run;
  if (status !== "needs_approval" && status !== "approved") return notWaiting(run, "for an approval");
  await moveRun(tx, id, { from: status, to: "discarded", why: `discarded by ${actor}` });
  await note(tx, run, actor, "discard");
  await beginWhatWasAsked(tx, queue, manifest);
  await audit("discard");
  return "discarded";
});

async function note(tx: Tx, run: RunRow, actor: string, decided: "approve" | "discard"): Promise<void> {
  const row = { run_id: run.id, fingerprint: run.fingerprint ?? "", actor, decision: decided };
  await tx.insertInto("approvals").values(row).execute();
}

/** Ms after a request to cancel before it may be repeated by force. */
const forceAfter = 60_000;

/**
 * Asks for the end of a run. Its worker ends it at the next step; one that has not begun ends at once. By force, once the first request is
 * a minute old, the run is ended without its worker, whose later writes have no effect.
 */
export const cancelRun: Decision<{ readonly force?: boolean }> = decision(
  lockBoth,
  async ({ tx, queue, manifest, run, actor, audit }, { force = false }) => {
    const { id, status, cancel_requested_at: asked } = run;
    if (isEnd(status)) return refused("ended", `the run has ended: ${status}`);
    if (await endWaiting(tx, run, `canceled by ${actor}`)) {
      await beginWhatWasAsked(tx, queue, manifest);
      await audit("cancel", { force });
      return "canceled";
    }
    if (status !== "planning" && status !== "applying" && status !== "converging")
      return notWaiting(run, "where it can be canceled");
    if (!force) {
      if (asked !== null) return "requested";
      await setRun(tx, id, { cancel_requested_at: databaseClock });
      await audit("cancel", { force });
      return "requested";
    }
    if (asked === null || (await databaseTime(tx)).getTime() - asked.getTime() < forceAfter)
      return refused("too-early", "a run is ended by force a minute after its cancel was asked for");
    const way = { from: status, to: "canceled", why: `ended by force by ${actor}` } as const;
    await moveRun(tx, id, way, {}, { fence: run.fence + 1, exit_code: status === "planning" ? null : 130 });
    await beginWhatWasAsked(tx, queue, manifest);
    await audit("cancel by force", { force });
    return "canceled";
  },
);

/** Ends a run that is not at work; false if it is. */
async function endWaiting(tx: Tx, { id, status }: RunRow, why: string): Promise<boolean> {
  if (status === "needs_approval") return moveRun(tx, id, { from: status, to: "discarded", why });
  if (status === "pending" || status === "approved")
    return moveRun(tx, id, { from: status, to: "canceled", why });
  return false;
}

function notWaiting({ status }: RunRow, what: string): Refused {
  return refused("not-waiting", `the run does not wait ${what}: it is ${status}`);
}

/** Asks for a run now; resolves with the id of the run that does it. */
export const requestRun: Decision<Partial<Asking>, { readonly run: string }> = decision(
  lockKept,
  async ({ tx, queue, manifest, actor, audit }, { kind = "reconcile", trigger = "request" }) => {
    const run = await askForRun(tx, queue, manifest, { kind, trigger, actor });
    await audit("reconcile", { run, trigger });
    return { run };
  },
);

/** Stops the checks of a manifest until a time; null ends the pause. Runs that were begun go on. */
export const pauseManifest: Decision<{ readonly until: string | null }> = decision(
  lockKept,
  async ({ tx, manifest, audit }, { until }) => {
    await setManifest(tx, manifest.id, { paused_until: until === null ? null : new Date(until) });
    await audit("pause", { until });
    return "paused";
  },
);

/** Adds a manifest and asks for its first run; refused as `exists` if the tenant has one of that name. */
export async function addManifest(
  { database, queue }: DecisionContext,
  {
    source,
    files,
    actor,
    ...columns
  }: Pick<NewManifest, "tenant" | "name" | "auto" | "interval_seconds"> & {
    readonly source: Source;
    readonly files?: Upload | undefined;
    readonly actor: string;
  },
): Promise<{ readonly manifest: string; readonly run: string } | Refused> {
  return transact(database, async (tx) => {
    const { tenant, name, interval_seconds } = columns;
    const known = tx.insertInto("tenants").values({ name: tenant });
    await known.onConflict((conflict) => conflict.doNothing()).execute();
    // Somewhere in its interval, always at the same point for the same name.
    const phase = digestOf(name).readUInt32BE() / 2 ** 32;
    const row = await tx
      .insertInto("manifests")
      .values({
        ...columns,
        source: JSON.stringify(source),
        commit: files === undefined ? null : uploadDigest(files),
        next_due_at: sql<Date>`clock_timestamp() + make_interval(secs => ${phase * interval_seconds})`,
      })
      .onConflict((conflict) =>
        conflict.columns(["tenant", "name"]).where("removed_at", "is", null).doNothing(),
      )
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return refused("exists", `the tenant ${tenant} has a manifest ${name} already`);
    if (files !== undefined) await storeUpload(tx, row, files);
    const run = await askForRun(tx, queue, row, { kind: "reconcile", trigger: "request", actor });
    await addAudit(tx, { tenant, actor, action: "add manifest", subject: name, details: { source } });
    return { manifest: row.id, run };
  });
}

export const changeManifest: Decision<{
  readonly auto?: "safe" | "none";
  readonly intervalSeconds?: number;
}> = decision(lockKept, async ({ tx, manifest, audit }, { auto, intervalSeconds }) => {
  const { auto: autoNow, interval_seconds: secondsNow } = manifest;
  const columns = { auto: auto ?? autoNow, interval_seconds: intervalSeconds ?? secondsNow };
  const next_due_at = sql<Date>`least(next_due_at, clock_timestamp() + make_interval(secs => ${columns.interval_seconds}))`;
  await setManifest(tx, manifest.id, { ...columns, next_due_at });
  await audit("change manifest", columns);
  return "changed";
});

/** Takes a manifest out of the fleet. Its databases and its state stay; a run that is at work ends at its next step. */
export const removeManifest: Decision = decision(lockKept, async ({ tx, manifest: { id }, actor, audit }) => {
  await setManifest(tx, id, { removed_at: databaseClock, dirty: false });
  for (const run of await openRuns(tx, id))
    if (!(await endWaiting(tx, run, `${actor} has removed the manifest`)))
      await setRun(tx, run.id, { cancel_requested_at: databaseClock });
  await audit("remove manifest");
  return "removed";
});

/** Takes new files of a manifest by upload; files that are the same ask for nothing, unless they could not be planned. */
export const uploadFiles: Decision<{ readonly files: Upload }, { readonly run: string | null }> = decision(
  lockKept,
  async ({ tx, queue, manifest, actor, audit }, { files }) => {
    if (manifest.source.type !== "upload")
      return refused("from-git", "this manifest comes from Git: push to its repository instead");
    const digest = uploadDigest(files);
    const isSame = manifest.commit === digest;
    const isDone = manifest.planned_commit === digest || (await openRuns(tx, manifest.id)).length > 0;
    if (isSame && isDone) return { run: null };
    // The generation rises, so that plans of older files are superseded.
    const columns = { commit: digest, generation: manifest.generation + (isSame ? 0 : 1) };
    const changed = await setManifest(tx, manifest.id, columns);
    await storeUpload(tx, changed, files);
    await dropUploads(tx, manifest.id);
    const run = await askForRun(tx, queue, changed, { kind: "reconcile", trigger: "upload", actor });
    await audit("upload", { digest, run });
    return { run };
  },
);

/** Keeps the files of a manifest's newest commit; the approved ones may be the same. */
async function storeUpload(tx: Tx, { id, commit }: ManifestRow, files: Upload): Promise<void> {
  const row = { manifest_id: id, digest: commit ?? "", files: JSON.stringify(files) };
  const kept = tx.insertInto("uploads").values(row);
  await kept.onConflict((conflict) => conflict.doNothing()).execute();
}
