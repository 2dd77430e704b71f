/** @module Applies an approved run: takes it, applies what was approved in a thread, and ends it in one transaction. */
import type { Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import type { Fetched } from "../queue/queue.ts";
import { askForRun, lockManifest } from "./ask-for-run.ts";
import { moveRun } from "./moves.ts";
import type { Applied, Approved } from "./orders.ts";
import { supersedeWaiting } from "./plan-run.ts";
import { busyDelay, takeRun } from "./take-run.ts";
import { failureOfOrder } from "./threads.ts";
import { countsOf, type PlanDocument, verdictOf } from "./verdict.ts";
import { type Watch, watchRun } from "./watch.ts";
import {
  endJob,
  inTransaction,
  putBack,
  suspectAfter,
  type Taken,
  type WorkerWorld,
  withCheckout,
} from "./world.ts";

/** Ms before a run is tried again whose state is locked by another one, or that goes on converging. */
const [lockedDelay, convergingDelay] = [15_000, 30_000];

const name = "apply";
type Job = Fetched<"apply">;

/** Carries out a job of applying. */
export async function applyRun(world: WorkerWorld, job: Job): Promise<void> {
  const taken = await inTransaction(world, (tx) =>
    takeRun(tx, world, name, job, {
      waiting: ["approved", "converging"],
      working: "applying",
      mayBegin: (...given) => mayBegin(world, ...given),
    }),
  );
  if (taken === undefined) return;
  const { run, manifest, isResumed } = taken;
  const leave = await world.company.enter(run.attempts >= suspectAfter);
  if (leave === undefined) return inTransaction(world, (tx) => giveBack(tx, world, job, taken, busyDelay));
  const watch = watchRun(world, run.id, run.fence);
  if (isResumed) watch.add({ type: "note", message: "another worker goes on with this run" });
  try {
    const approved: Approved = {
      fingerprint: run.fingerprint ?? "",
      document: run.plan as PlanDocument,
      isResumed,
    };
    const checkout = { commit: run.commit ?? "", signal: watch.signal, creates: true };
    const applied = await withCheckout(world, manifest, checkout, (order) =>
      world.threads.apply(
        order,
        approved,
        (event) => watch.add({ type: "apply", event }, isStepDone(event)),
        watch.signal,
      ),
    );
    await watch.end();
    await inTransaction(world, (tx) => endApply(tx, world, { job, taken, watch, applied }));
  } catch (error) {
    await watch.end();
    await inTransaction(world, (tx) => endFailed(tx, world, { job, taken, watch, error }));
  } finally {
    leave();
  }
}

function isStepDone(event: { readonly type: string }): boolean {
  return event.type === "step-end";
}

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
    await askForRun(tx, queue, manifest, { kind: "reconcile", trigger: "commit", actor: "controller" });
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
    .where("status", "in", ["applying", "converging"])
    .executeTakeFirstOrThrow();
  return count < maxConcurrent;
}

interface Ended {
  readonly job: Job;
  readonly taken: Taken;
  readonly watch: Watch;
}

/** Ends a run by what its apply came to. */
async function endApply(
  tx: Tx,
  world: WorkerWorld,
  ended: Ended & { readonly applied: Applied },
): Promise<void> {
  const { job, taken, watch, applied } = ended;
  const { id, fence, manifest_id } = taken.run;
  const manifest = await lockManifest(tx, manifest_id);
  if (manifest === undefined) return;
  if ("refused" in applied) return endRefused(tx, world, { job, taken, manifest, ...applied });
  const { exitCode, reasons } = applied;
  const columns = { exit_code: exitCode, reasons: JSON.stringify(reasons) };
  const isCutShort = exitCode === 130 && watch.reason() !== undefined;
  if (isCutShort) return endCutShort(tx, world, ended, manifest);
  if (exitCode === 7 || exitCode === 8) {
    if (await moveRun(tx, id, { from: "applying", to: "converging" }, { fence }, { ...columns, attempts: 0 }))
      await putBack(tx, world.queue, name, job, convergingDelay);
    return;
  }
  if (exitCode === 6) return endStale(tx, world, { job, taken, manifest, why: reasons.join("; ") });
  const to = exitCode === 0 ? "applied" : "errored";
  if (!(await moveRun(tx, id, { from: "applying", to }, { fence }, columns))) return;
  if (to === "applied") {
    await tx
      .updateTable("manifests")
      .set({ checked_at: new Date(), drifted_at: null, trouble: null })
      .where("id", "=", manifest.id)
      .execute();
  }
  await endJob(tx, world.queue, { name, job, manifest });
}

interface Refusal {
  readonly job: Job;
  readonly taken: Taken;
  readonly manifest: ManifestRow;
  readonly why: string;
}

/**
 * Ends a run whose plan is not the approved one any more. One that has begun waits for an approval of what is left; one that has not is
 * stale, and planned again.
 */
async function endRefused(
  tx: Tx,
  world: WorkerWorld,
  refusal: Refusal & { readonly refused: PlanDocument },
): Promise<void> {
  const { job, taken, manifest, refused, why } = refusal;
  if (!taken.isResumed) return endStale(tx, world, refusal);
  const { id, fence, kind } = taken.run;
  const { verdict, reasons } = verdictOf(refused);
  const columns = {
    ...{
      verdict,
      fingerprint: refused.x_graphform.fingerprint,
      plan: JSON.stringify(refused),
      counts: JSON.stringify(countsOf(refused)),
    },
    ...{ reasons: JSON.stringify([why, ...reasons]), attempts: 0 },
  };
  await supersedeWaiting(tx, manifest.id, kind);
  if (await moveRun(tx, id, { from: "applying", to: "needs_approval", why }, { fence }, columns))
    await endJob(tx, world.queue, { name, job, manifest });
}

async function endStale(
  tx: Tx,
  { queue }: WorkerWorld,
  { job, taken, manifest, why }: Refusal,
): Promise<void> {
  const { id, fence, kind } = taken.run;
  if (
    !(await moveRun(
      tx,
      id,
      { from: "applying", to: "stale", why },
      { fence },
      { exit_code: 6, reasons: JSON.stringify([why]) },
    ))
  )
    return;
  await queue.complete(tx, name, job);
  await tx.updateTable("manifests").set({ dirty: false }).where("id", "=", manifest.id).execute();
  const again: RunRow["kind"] = manifest.dirty ? "reconcile" : kind;
  if (manifest.removed_at === null)
    await askForRun(tx, queue, manifest, { kind: again, trigger: "request", actor: "controller" });
}

/** Ends a run that was told to end at its next step: for good, or to go on elsewhere. */
async function endCutShort(
  tx: Tx,
  world: WorkerWorld,
  { job, taken, watch }: Ended,
  manifest: ManifestRow,
): Promise<void> {
  const { id, fence } = taken.run;
  const reason = watch.reason();
  if (reason === "lost") return;
  if (reason === "stopping") return giveBack(tx, world, job, taken, 1_000);
  if (await moveRun(tx, id, { from: "applying", to: "canceled" }, { fence }, { exit_code: 130 }))
    await endJob(tx, world.queue, { name, job, manifest });
}

/** Ends a run whose apply was refused or ended by an error. */
async function endFailed(
  tx: Tx,
  world: WorkerWorld,
  ended: Ended & { readonly error: unknown },
): Promise<void> {
  const { job, taken, watch, error } = ended;
  const { id, fence, manifest_id } = taken.run;
  const manifest = await lockManifest(tx, manifest_id);
  if (manifest === undefined) return;
  if (watch.reason() !== undefined) return endCutShort(tx, world, ended, manifest);
  const { code, message, exitCode, isOwnEnd } = failureOfOrder(error);
  if (exitCode === 5) return giveBack(tx, world, job, taken, lockedDelay);
  if (exitCode === 6) return endStale(tx, world, { job, taken, manifest, why: message });
  // The state's store was away, or the thread ended: what was begun stands in the state as an intent, and the next holder resolves it.
  if (isOwnEnd || code === "state-unreachable" || code === "lock-lost") {
    const { attempts } = taken.run;
    const columns = { attempts: isOwnEnd ? attempts : attempts - 1 };
    if (await moveRun(tx, id, { from: "applying", to: "converging", why: message }, { fence }, columns))
      await putBack(tx, world.queue, name, job, lockedDelay);
    return;
  }
  const columns = { exit_code: exitCode, reasons: JSON.stringify([message]) };
  if (await moveRun(tx, id, { from: "applying", to: "errored", why: message }, { fence }, columns))
    await endJob(tx, world.queue, { name, job, manifest });
}

/** Puts a run back as it was before this worker took it; one that has begun goes on as such. */
async function giveBack(
  tx: Tx,
  { queue }: WorkerWorld,
  job: Job,
  { run, isResumed }: Taken,
  ms: number,
): Promise<void> {
  await lockManifest(tx, run.manifest_id);
  const columns = { attempts: run.attempts - 1 };
  const hasBegun = isResumed || (await hasSteps(tx, run.id));
  const isMoved = await moveRun(
    tx,
    run.id,
    { from: "applying", to: hasBegun ? "converging" : "approved" },
    { fence: run.fence },
    columns,
  );
  if (isMoved) await putBack(tx, queue, name, job, ms);
}

/** True if the log shows a step that was begun. */
async function hasSteps(tx: Tx, run: string): Promise<boolean> {
  const rows = await tx
    .selectFrom("run_events")
    .select("event")
    .where("run_id", "=", run)
    .orderBy("id", "desc")
    .limit(1000)
    .execute();
  return rows.some(({ event }) => event.type === "apply");
}
