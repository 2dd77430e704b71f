/** @module Carries out what people decide about runs: each decision is one transaction, with its entry in the audit log. */
import { addAudit } from "../database/audit.ts";
import type { Database, Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import type { Queue } from "../queue/queue.ts";
import { askForRun, beginWhatWasAsked, newerManifest } from "./ask-for-run.ts";
import { lockBoth, moveRun } from "./moves.ts";
import { isEnd } from "./transitions.ts";

export interface DecidingWorld {
  readonly database: Database;
  readonly queue: Queue;
}

/** The reason for which a decision was not taken: the run or manifest has another state than the caller has seen. */
export interface Refused {
  readonly refused: "unknown" | "not-waiting" | "changed" | "ended" | "too-early";
  readonly message: string;
}

export interface RunDecision {
  readonly run: string;
  readonly actor: string;
}

/** Approves exactly the plan with this fingerprint: the run goes on, and the commit is what drift is healed to from now on. */
export async function approveRun(
  { database, queue }: DecidingWorld,
  { run, actor, fingerprint }: RunDecision & { readonly fingerprint: string },
): Promise<"approved" | Refused> {
  return withRun(database, run, async (tx, manifest, row) => {
    if (row.status !== "needs_approval") return notWaiting(row, "for an approval");
    if (row.fingerprint !== fingerprint)
      return {
        refused: "changed",
        message: "the plan of this run has another fingerprint: look at it again",
      };
    if (row.kind === "reconcile" && row.generation < manifest.generation) {
      await moveRun(tx, run, { from: "needs_approval", to: "superseded", why: "the manifest has changed" });
      await askForRun(tx, queue, manifest, newerManifest);
      return {
        refused: "changed",
        message: "the manifest has changed since this plan: a new one is being made",
      };
    }
    await tx
      .insertInto("approvals")
      .values({ run_id: run, fingerprint, actor, decision: "approve" })
      .execute();
    await moveRun(
      tx,
      run,
      { from: "needs_approval", to: "approved", why: `approved by ${actor}` },
      { fingerprint },
    );
    await recordApproval(tx, row);
    await queue.send(tx, "apply", run, { run });
    await addAudit(tx, {
      tenant: row.tenant,
      actor,
      action: "approve",
      subject: run,
      details: { fingerprint, manifest: manifest.name },
    });
    return "approved";
  });
}

/** Remembers the commit of an approved run: drift is healed to it. */
export async function recordApproval(tx: Tx, run: Pick<RunRow, "manifest_id" | "commit">): Promise<void> {
  if (run.commit === null) return;
  await tx
    .updateTable("manifests")
    .set({ approved_commit: run.commit })
    .where("id", "=", run.manifest_id)
    .execute();
}

/** Ends a run that waits, or was approved and has not begun. */
export async function discardRun(
  { database, queue }: DecidingWorld,
  { run, actor }: RunDecision,
): Promise<"discarded" | Refused> {
  return withRun(database, run, async (tx, manifest, row) => {
    const { status } = row;
    if (status !== "needs_approval" && status !== "approved") return notWaiting(row, "for an approval");
    await moveRun(tx, run, { from: status, to: "discarded", why: `discarded by ${actor}` });
    const fingerprint = row.fingerprint ?? "";
    await tx
      .insertInto("approvals")
      .values({ run_id: run, fingerprint, actor, decision: "discard" })
      .execute();
    await beginWhatWasAsked(tx, queue, manifest);
    await addAudit(tx, {
      tenant: row.tenant,
      actor,
      action: "discard",
      subject: run,
      details: { manifest: manifest.name },
    });
    return "discarded";
  });
}

/** Ms after a request to cancel before it may be repeated by force. */
const forceAfter = 60_000;

/**
 * Asks for the end of a run. Its worker ends it at the next step; one that has not begun ends at once. By force, once the first request is
 * a minute old, the run is ended without its worker, whose later writes have no effect.
 */
export async function cancelRun(
  { database, queue }: DecidingWorld,
  { run, actor, force = false }: RunDecision & { readonly force?: boolean },
): Promise<"requested" | "canceled" | Refused> {
  return withRun(database, run, async (tx, manifest, row) => {
    const { status } = row;
    if (isEnd(status)) return { refused: "ended", message: `the run has ended: ${status}` };
    if (status === "planned" || status === "policy_checked")
      return notWaiting(row, "where it can be canceled");
    const asked = row.cancel_requested_at;
    const audit = { tenant: row.tenant, actor, subject: run, details: { manifest: manifest.name, force } };
    if (status === "needs_approval") {
      await moveRun(tx, run, { from: status, to: "discarded", why: `canceled by ${actor}` });
      await addAudit(tx, { ...audit, action: "cancel" });
      return "canceled";
    }
    if (status === "pending" || status === "approved") {
      await moveRun(tx, run, { from: status, to: "canceled", why: `canceled by ${actor}` });
      await beginWhatWasAsked(tx, queue, manifest);
      await addAudit(tx, { ...audit, action: "cancel" });
      return "canceled";
    }
    if (force) {
      if (asked === null || Date.now() - asked.getTime() < forceAfter)
        return {
          refused: "too-early",
          message: "a run is ended by force a minute after its cancel was asked for",
        };
      const columns = { fence: row.fence + 1, cancel_forced: true };
      await moveRun(
        tx,
        run,
        { from: status, to: "canceled", why: `ended by force by ${actor}` },
        {},
        columns,
      );
      await beginWhatWasAsked(tx, queue, manifest);
      await addAudit(tx, { ...audit, action: "cancel by force" });
      return "canceled";
    }
    if (asked === null) {
      await tx.updateTable("runs").set({ cancel_requested_at: new Date() }).where("id", "=", run).execute();
      await addAudit(tx, { ...audit, action: "cancel" });
    }
    return "requested";
  });
}

async function withRun<T>(
  database: Database,
  run: string,
  work: (tx: Tx, manifest: ManifestRow, run: RunRow) => Promise<T | Refused>,
): Promise<T | Refused> {
  return database.transaction().execute(async (tx) => {
    const found = await lockBoth(tx, run);
    return found === undefined
      ? { refused: "unknown", message: "there is no such run" }
      : work(tx, found.manifest, found.run);
  });
}

function notWaiting({ status }: RunRow, what: string): Refused {
  return { refused: "not-waiting", message: `the run does not wait ${what}: it is ${status}` };
}
