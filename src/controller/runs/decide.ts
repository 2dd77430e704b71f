/** @module Carries out what people decide about runs: each decision is one transaction, with its entry in the audit log. */
import { addAudit } from "../database/audit.ts";
import type { Database, Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import type { Queue } from "../queue/queue.ts";
import { askForRun, beginWhatWasAsked, lockBoth, moveRun, newerManifest, setApproved } from "./moves.ts";
import { isEnd } from "./transitions.ts";

export interface DecidingWorld {
  readonly database: Database;
  readonly queue: Queue;
}

/** The reason for which a decision was not taken: the run or manifest has another state than the caller has seen. */
export interface Refused {
  readonly refused: "not-found" | "not-waiting" | "changed" | "ended" | "too-early";
  readonly message: string;
}

export function refused(code: Refused["refused"], message: string): Refused {
  return { refused: code, message };
}

/** The transaction of a decision about a locked manifest, with the entry in the audit log that is its last statement. */
export interface Deciding {
  readonly tx: Tx;
  readonly queue: Queue;
  readonly manifest: ManifestRow;
  readonly actor: string;
  readonly audit: (action: string, details?: object) => Promise<void>;
}

export interface RunDecision {
  readonly run: string;
  readonly actor: string;
}

/** Approves exactly the plan with this fingerprint: the run goes on, and the commit is what drift is healed to from now on. */
export async function approveRun(
  world: DecidingWorld,
  { fingerprint, ...decision }: RunDecision & { readonly fingerprint: string },
): Promise<"approved" | Refused> {
  return aboutRun(world, decision, async ({ tx, queue, manifest, run, actor, audit }) => {
    const { id, status } = run;
    if (status !== "needs_approval") return notWaiting(run, "for an approval");
    if (run.fingerprint !== fingerprint)
      return refused("changed", "the plan of this run has another fingerprint: look at it again");
    if (run.kind === "reconcile" && run.generation < manifest.generation) {
      await moveRun(tx, id, { from: status, to: "superseded", why: "the manifest has changed" });
      await askForRun(tx, queue, manifest, newerManifest);
      return refused("changed", "the manifest has changed since this plan: a new one is being made");
    }
    await addDecision(tx, run, actor, "approve");
    await moveRun(tx, id, { from: status, to: "approved", why: `approved by ${actor}` }, { fingerprint });
    await setApproved(tx, manifest.id, run.commit);
    await queue.send(tx, "apply", id, { run: id });
    await audit("approve", { fingerprint });
    return "approved";
  });
}

/** Ends a run that waits, or was approved and has not begun. */
export async function discardRun(
  world: DecidingWorld,
  decision: RunDecision,
): Promise<"discarded" | Refused> {
  return aboutRun(world, decision, async ({ tx, queue, manifest, run, actor, audit }) => {
    const { id, status } = run;
    if (status !== "needs_approval" && status !== "approved") return notWaiting(run, "for an approval");
    await moveRun(tx, id, { from: status, to: "discarded", why: `discarded by ${actor}` });
    await addDecision(tx, run, actor, "discard");
    await beginWhatWasAsked(tx, queue, manifest);
    await audit("discard");
    return "discarded";
  });
}

async function addDecision(
  tx: Tx,
  { id, fingerprint }: RunRow,
  actor: string,
  decision: "approve" | "discard",
): Promise<void> {
  const row = { run_id: id, fingerprint: fingerprint ?? "", actor, decision };
  await tx.insertInto("approvals").values(row).execute();
}

/** Ms after a request to cancel before it may be repeated by force. */
const forceAfter = 60_000;

/**
 * Asks for the end of a run. Its worker ends it at the next step; one that has not begun ends at once. By force, once the first request is
 * a minute old, the run is ended without its worker, whose later writes have no effect.
 */
export async function cancelRun(
  world: DecidingWorld,
  { force = false, ...decision }: RunDecision & { readonly force?: boolean },
): Promise<"requested" | "canceled" | Refused> {
  return aboutRun(world, decision, async ({ tx, queue, manifest, run, actor, audit }) => {
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
      await tx.updateTable("runs").set({ cancel_requested_at: new Date() }).where("id", "=", id).execute();
      await audit("cancel", { force });
      return "requested";
    }
    if (asked === null || Date.now() - asked.getTime() < forceAfter)
      return refused("too-early", "a run is ended by force a minute after its cancel was asked for");
    const way = { from: status, to: "canceled", why: `ended by force by ${actor}` } as const;
    await moveRun(tx, id, way, {}, { fence: run.fence + 1, cancel_forced: true });
    await beginWhatWasAsked(tx, queue, manifest);
    await audit("cancel by force", { force });
    return "canceled";
  });
}

/** Ends a run that is not at work; false if it is. */
export async function endWaiting(
  tx: Tx,
  { id, status }: Pick<RunRow, "id" | "status">,
  why: string,
): Promise<boolean> {
  if (status === "needs_approval") return moveRun(tx, id, { from: status, to: "discarded", why });
  if (status === "pending" || status === "approved")
    return moveRun(tx, id, { from: status, to: "canceled", why });
  return false;
}

function notWaiting({ status }: RunRow, what: string): Refused {
  return refused("not-waiting", `the run does not wait ${what}: it is ${status}`);
}

async function aboutRun<T extends string | object>(
  { database, queue }: DecidingWorld,
  { run: id, actor }: RunDecision,
  decide: (deciding: Deciding & { readonly run: RunRow }) => Promise<T | Refused>,
): Promise<T | Refused> {
  return database.transaction().execute(async (tx) => {
    const found = await lockBoth(tx, id);
    if (found === undefined) return refused("not-found", "there is no such run");
    const { manifest, run } = found;
    const audit = (action: string, details?: object): Promise<void> =>
      addAudit(tx, {
        ...{ tenant: run.tenant, actor, action, subject: id },
        details: { manifest: manifest.name, ...details },
      });
    return decide({ tx, queue, manifest, run, actor, audit });
  });
}
