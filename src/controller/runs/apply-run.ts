/** @module Applies an approved run in a thread, within what was approved, and decides what follows. */
import { sql } from "kysely";
import type { ApplyEvent } from "../../index.ts";
import type { Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import { askForRun, newerManifest } from "./ask-for-run.ts";
import { endCutShort, giveBack, type Stage, type WorkFailure } from "./carry-out.ts";
import { moveRun, outcome } from "./moves.ts";
import type { Applied, Approved } from "./orders.ts";
import { supersedeWaiting } from "./plan-run.ts";
import { busyDelay } from "./take-run.ts";
import { making } from "./transitions.ts";
import { type PlanDocument, planColumns } from "./verdict.ts";
import type { Watch } from "./watch.ts";
import { endJob, putBack, type Taken, type WorkerWorld, withCheckout } from "./world.ts";

/** Ms before a run is tried again whose state is locked by another one, or that goes on converging. */
const [lockedDelay, convergingDelay] = [15_000, 30_000];

/** The stage of applying. */
export const applying: Stage<Applied> = {
  waiting: ["approved", "converging"],
  working: "applying",
  mayBegin,
  // One that has begun goes on as such.
  stateBefore: async (tx, { run, isResumed }) =>
    isResumed || (await hasSteps(tx, run.id)) ? "converging" : "approved",
  canceledExit: 130,
  async work(world, { run, manifest, isResumed }, watch) {
    const { signal } = watch;
    if (isResumed) watch.add({ type: "note", message: "another worker goes on with this run" });
    const document = run.plan as PlanDocument;
    const approved: Approved = { fingerprint: run.fingerprint ?? "", document, isResumed };
    const checkout = { commit: run.commit ?? "", signal, creates: true };
    const onEvent = (event: ApplyEvent): void =>
      watch.add({ type: "apply", event }, event.type === "step-end");
    return withCheckout(world, manifest, checkout, (order) =>
      world.threads.apply(order, approved, onEvent, signal),
    );
  },
  end: endApply,
  fail: endFailed,
};

/**
 * Says whether an approved run may begin. The runs of the tenant are counted under the lock of its row, so that two workers never let in
 * one too many.
 */
async function mayBegin(
  { queue, config }: WorkerWorld,
  tx: Tx,
  manifest: ManifestRow,
  run: RunRow,
): Promise<"yes" | "ended" | number> {
  if (run.status === "converging") return "yes";
  if (run.kind === "reconcile" && run.generation < manifest.generation) {
    const why = "the manifest has changed since the approval";
    await moveRun(tx, run.id, { from: "approved", to: "superseded", why });
    await askForRun(tx, queue, manifest, newerManifest);
    return "ended";
  }
  const { maxConcurrent } = config.current().tenants[manifest.tenant] ?? { maxConcurrent: 1 };
  return (await hasRoom(tx, manifest.tenant, maxConcurrent)) ? "yes" : busyDelay;
}

/** True if the tenant has fewer runs at work than it may. */
async function hasRoom(tx: Tx, tenant: string, maxConcurrent: number): Promise<boolean> {
  await tx.selectFrom("tenants").select("name").where("name", "=", tenant).forUpdate().execute();
  const { count } = await tx
    .selectFrom("runs")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("tenant", "=", tenant)
    .where("status", "in", making)
    .executeTakeFirstOrThrow();
  return count < maxConcurrent;
}

/** Ends a run by what its apply came to. */
async function endApply(
  tx: Tx,
  world: WorkerWorld,
  taken: Taken,
  applied: Applied,
  watch: Watch,
): Promise<void> {
  if ("refused" in applied) return endRefused(tx, world, taken, applied);
  const { id, fence } = taken.run;
  const { exitCode, reasons } = applied;
  const columns = outcome(exitCode, reasons);
  if (exitCode === 130 && watch.reason() !== undefined) return endCutShort(tx, world, taken, applying, watch);
  if (exitCode === 7 || exitCode === 8) {
    if (await moveRun(tx, id, { from: "applying", to: "converging" }, { fence }, { ...columns, attempts: 0 }))
      await putBack(tx, world.queue, taken.job, convergingDelay);
    return;
  }
  if (exitCode === 6) return endStale(tx, world, taken, reasons.join("; "));
  const to = exitCode === 0 ? "applied" : "errored";
  if (!(await moveRun(tx, id, { from: "applying", to }, { fence }, columns))) return;
  if (to === "applied")
    await tx
      .updateTable("manifests")
      .set({ checked_at: new Date(), drifted_at: null, trouble: null })
      .where("id", "=", taken.manifest.id)
      .execute();
  await endJob(tx, world, taken);
}

/**
 * Ends a run whose plan is not the approved one any more. One that has begun waits for an approval of what is left; one that has not is
 * stale, and planned again.
 */
async function endRefused(
  tx: Tx,
  world: WorkerWorld,
  taken: Taken,
  { refused, why }: { readonly refused: PlanDocument; readonly why: string },
): Promise<void> {
  if (!taken.isResumed) return endStale(tx, world, taken, why);
  const { id, fence, kind, manifest_id } = taken.run;
  await supersedeWaiting(tx, manifest_id, kind);
  const way = { from: "applying", to: "needs_approval", why } as const;
  if (await moveRun(tx, id, way, { fence }, planColumns(refused, [why]))) await endJob(tx, world, taken);
}

async function endStale(
  tx: Tx,
  { queue }: WorkerWorld,
  { job, run, manifest }: Taken,
  why: string,
): Promise<void> {
  const { id, fence, kind } = run;
  if (!(await moveRun(tx, id, { from: "applying", to: "stale", why }, { fence }, outcome(6, [why])))) return;
  await queue.complete(tx, job.queue, job);
  await tx.updateTable("manifests").set({ dirty: false }).where("id", "=", manifest.id).execute();
  const again: RunRow["kind"] = manifest.dirty ? "reconcile" : kind;
  if (manifest.removed_at === null)
    await askForRun(tx, queue, manifest, { kind: again, trigger: "request", actor: "controller" });
}

/** Ends a run whose apply was refused or ended by an error. */
async function endFailed(
  tx: Tx,
  world: WorkerWorld,
  taken: Taken,
  { code, message, exitCode, isOwnEnd }: WorkFailure,
): Promise<void> {
  const { id, fence, attempts } = taken.run;
  if (exitCode === 5) return giveBack(tx, world, taken, applying, lockedDelay);
  if (exitCode === 6) return endStale(tx, world, taken, message);
  // The state's store was away, or the thread ended: what was begun stands in the state as an intent, and the next holder resolves it.
  if (isOwnEnd || code === "state-unreachable" || code === "lock-lost") {
    const way = { from: "applying", to: "converging", why: message } as const;
    if (await moveRun(tx, id, way, { fence }, { attempts: isOwnEnd ? attempts : attempts - 1 }))
      await putBack(tx, world.queue, taken.job, lockedDelay);
    return;
  }
  const way = { from: "applying", to: "errored", why: message } as const;
  if (await moveRun(tx, id, way, { fence }, outcome(exitCode, [message]))) await endJob(tx, world, taken);
}

/** True if the log shows a step that was begun. */
async function hasSteps(tx: Tx, run: string): Promise<boolean> {
  const found = await tx
    .selectFrom("run_events")
    .select("id")
    .where("run_id", "=", run)
    .where(sql`event ->> 'type'`, "=", "apply")
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
