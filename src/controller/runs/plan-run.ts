/** @module Plans a run: takes it, reads its source, plans in a thread, and decides what follows, in one transaction. */
import type { Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import type { Fetched } from "../queue/queue.ts";
import { newestCommit } from "../sources/source.ts";
import { askForRun, lockManifest } from "./ask-for-run.ts";
import { recordApproval } from "./decide.ts";
import { setCommit } from "./manifests.ts";
import { lockRun, moveRun } from "./moves.ts";
import { busyDelay, type Stage, takeRun } from "./take-run.ts";
import { failureOfOrder } from "./threads.ts";
import { changesAnything, countsOf, type PlanDocument, seesStrangers, verdictOf } from "./verdict.ts";
import { type Watch, watchRun } from "./watch.ts";
import {
  besides,
  endJob,
  inTransaction,
  putBack,
  suspectAfter,
  type Taken,
  type WorkerWorld,
  withCheckout,
} from "./world.ts";

type PlanQueue = "plan" | "drift";

const stage: Stage = {
  waiting: ["pending"],
  working: "planning",
  mayBegin: async () => "yes",
};

/** Carries out a job of planning. */
export async function planRun(world: WorkerWorld, name: PlanQueue, job: Fetched<PlanQueue>): Promise<void> {
  const taken = await inTransaction(world, (tx) => takeRun(tx, world, name, job, stage));
  if (taken === undefined) return;
  const { run } = taken;
  const leave = await world.company.enter(run.attempts >= suspectAfter);
  if (leave === undefined) return inTransaction(world, (tx) => giveBack(tx, world, name, job, taken.run));
  const watch = watchRun(world, run.id, run.fence);
  try {
    const found = await readSource(world, taken, watch.signal);
    const plan = await withCheckout(
      world,
      taken.manifest,
      { commit: found.commit, signal: watch.signal },
      (order) => world.threads.plan(order, watch.signal),
    );
    await watch.end();
    await inTransaction(world, (tx) => endPlanning(tx, world, { name, job, ...found, run, plan }));
  } catch (error) {
    await watch.end();
    await inTransaction(world, (tx) => endWithout(tx, world, { name, job, taken, watch, error }));
  } finally {
    leave();
  }
}

/** The commit that a run plans, and whether it is a new one. */
interface FoundSource {
  readonly commit: string;
  readonly kind: RunRow["kind"];
}

/**
 * Finds the commit that the run is about. A check that is due plans a commit that was not seen before; else what was approved last, so that
 * drift is healed while a newer commit waits for its approval.
 */
async function readSource(
  world: WorkerWorld,
  { run, manifest }: Taken,
  signal: AbortSignal,
): Promise<FoundSource> {
  const newest = await newestCommit(manifest, world.config.current(), signal);
  const isNew = newest !== manifest.commit;
  if (isNew)
    await inTransaction(world, async (tx) => {
      const locked = await lockManifest(tx, manifest.id);
      if (locked === undefined || locked.generation !== manifest.generation) return;
      const { generation } = await setCommit(tx, locked, newest);
      await tx
        .updateTable("runs")
        .set({ generation })
        .where("id", "=", run.id)
        .where("fence", "=", run.fence)
        .execute();
    });
  const { approved_commit: approved } = manifest;
  const kind = run.kind === "reconcile" || isNew || approved === null ? "reconcile" : "drift";
  return { kind, commit: kind === "drift" && approved !== null ? approved : newest };
}

interface Planned extends FoundSource {
  readonly name: PlanQueue;
  readonly job: Fetched<PlanQueue>;
  readonly run: RunRow;
  readonly plan: PlanDocument;
}

/** Decides what follows a plan: nothing, an apply, or the approval of a person. */
async function endPlanning(tx: Tx, world: WorkerWorld, planned: Planned): Promise<void> {
  const { queue, config } = world;
  const { name, job, run, plan, commit, kind } = planned;
  const { id, fence } = run;
  const manifest = await lockManifest(tx, run.manifest_id);
  const now = await lockRun(tx, id);
  if (manifest === undefined || now === undefined) return;
  const end = { name, job, manifest };
  if (kind === "reconcile" && now.generation < manifest.generation) {
    const isMoved = await moveRun(
      tx,
      id,
      { from: "planning", to: "superseded", why: "the manifest has changed meanwhile" },
      { fence },
    );
    if (isMoved) await askAgain(tx, world, manifest, end);
    return;
  }
  if (seesStrangers(plan) && (await isAnyAtWork(tx, besides(config.current(), manifest.tenant), id)))
    return giveBack(tx, world, name, job, run, busyDelay);
  const { verdict, reasons } = verdictOf(plan);
  const hasChanges = changesAnything(plan);
  const columns = {
    ...{ commit, kind, verdict, fingerprint: plan.x_graphform.fingerprint, attempts: 0 },
    ...{
      plan: JSON.stringify(plan),
      counts: JSON.stringify(countsOf(plan)),
      reasons: JSON.stringify(reasons),
    },
  };
  if (!(await moveRun(tx, id, { from: "planning", to: "planned" }, { fence }, columns))) return;
  const seen = new Date();
  const isDrift = hasChanges && kind === "drift";
  await tx
    .updateTable("manifests")
    .set({ checked_at: seen, trouble: null, drifted_at: isDrift ? (manifest.drifted_at ?? seen) : null })
    .where("id", "=", manifest.id)
    .execute();
  if (!hasChanges) {
    await moveRun(tx, id, { from: "planned", to: "planned_and_finished" }, {}, { exit_code: 0 });
    await recordApproval(tx, { manifest_id: manifest.id, commit });
    return endJob(tx, queue, end);
  }
  if (!plan.applyable) {
    await moveRun(tx, id, { from: "planned", to: "blocked" }, {}, { exit_code: 4 });
    return endJob(tx, queue, end);
  }
  await moveRun(tx, id, { from: "planned", to: "policy_checked" });
  const tenant = config.current().tenants[manifest.tenant];
  if (verdict === "safe" && manifest.auto === "safe" && tenant?.auto === "safe") {
    await moveRun(tx, id, {
      from: "policy_checked",
      to: "approved",
      why: "safe: by the rules of the tenant",
    });
    await recordApproval(tx, { manifest_id: manifest.id, commit });
    await queue.send(tx, "apply", id, { run: id });
  } else {
    await supersedeWaiting(tx, manifest.id, kind);
    await moveRun(tx, id, { from: "policy_checked", to: "needs_approval" });
  }
  return endJob(tx, queue, end);
}

/** True if another run of these tenants makes objects just now: those that no state binds yet may be its own. */
async function isAnyAtWork(tx: Tx, tenants: readonly string[], run: string): Promise<boolean> {
  const other = await tx
    .selectFrom("runs")
    .select("id")
    .where("tenant", "in", tenants)
    .where("status", "in", ["applying", "converging"])
    .where("id", "!=", run)
    .executeTakeFirst();
  return other !== undefined;
}

/** A newer plan of the same kind takes the place of one that waits: its approval would be about what is not so any more. */
export async function supersedeWaiting(tx: Tx, manifest: string, kind: RunRow["kind"]): Promise<void> {
  const waiting = await tx
    .selectFrom("runs")
    .select("id")
    .where("manifest_id", "=", manifest)
    .where("kind", "=", kind)
    .where("status", "=", "needs_approval")
    .execute();
  for (const { id } of waiting)
    await moveRun(tx, id, { from: "needs_approval", to: "superseded", why: "a newer plan was made" });
}

/** Ends a job and asks for a run of what is declared now. */
async function askAgain(
  tx: Tx,
  { queue }: WorkerWorld,
  manifest: ManifestRow,
  end: Parameters<typeof endJob<PlanQueue>>[2],
): Promise<void> {
  await queue.complete(tx, end.name, end.job);
  await tx.updateTable("manifests").set({ dirty: false }).where("id", "=", manifest.id).execute();
  await askForRun(tx, queue, manifest, { kind: "reconcile", trigger: "commit", actor: "controller" });
}

interface Unplanned {
  readonly name: PlanQueue;
  readonly job: Fetched<PlanQueue>;
  readonly taken: Taken;
  readonly watch: Watch;
  readonly error: unknown;
}

/** Ends a run that has no plan: it was canceled, put back, or failed. */
async function endWithout(
  tx: Tx,
  world: WorkerWorld,
  { name, job, taken, watch, error }: Unplanned,
): Promise<void> {
  const { id, fence, manifest_id } = taken.run;
  const manifest = await lockManifest(tx, manifest_id);
  if (manifest === undefined || watch.reason() === "lost") return;
  const end = { name, job, manifest };
  if (watch.reason() === "stopping") return giveBack(tx, world, name, job, taken.run);
  if (watch.reason() === "canceled") {
    if (await moveRun(tx, id, { from: "planning", to: "canceled" }, { fence }))
      await endJob(tx, world.queue, end);
    return;
  }
  const { message, exitCode, isOwnEnd } = failureOfOrder(error);
  // A thread that ended by itself is tried again: the run counts how often.
  if (isOwnEnd) {
    if (await moveRun(tx, id, { from: "planning", to: "pending", why: message }, { fence }))
      await putBack(tx, world.queue, name, job, busyDelay);
    return;
  }
  const columns = { reasons: JSON.stringify([message]), exit_code: exitCode };
  if (!(await moveRun(tx, id, { from: "planning", to: "errored", why: message }, { fence }, columns))) return;
  await tx.updateTable("manifests").set({ trouble: message }).where("id", "=", manifest.id).execute();
  await endJob(tx, world.queue, end);
}

/** Puts a run back as it was before this worker took it. */
async function giveBack(
  tx: Tx,
  { queue }: WorkerWorld,
  name: PlanQueue,
  job: Fetched<PlanQueue>,
  run: RunRow,
  ms = 1_000,
): Promise<void> {
  await lockManifest(tx, run.manifest_id);
  const columns = { attempts: run.attempts - 1 };
  if (await moveRun(tx, run.id, { from: "planning", to: "pending" }, { fence: run.fence }, columns))
    await putBack(tx, queue, name, job, ms);
}
