/** @module Plans a run: reads its source, plans in a thread, and decides what follows. */
import type { Tx } from "../database/connect.ts";
import type { RunRow } from "../database/schema.ts";
import { newestCommit } from "../sources/source.ts";
import { askForRun, newerManifest } from "./ask-for-run.ts";
import { giveBack, type Stage, type WorkFailure } from "./carry-out.ts";
import { recordApproval } from "./decide.ts";
import { setCommit } from "./manifests.ts";
import { lockManifest, lockRun, moveRun, outcome } from "./moves.ts";
import { busyDelay } from "./take-run.ts";
import { making } from "./transitions.ts";
import { changesAnything, type PlanDocument, planColumns, seesUnmanaged } from "./verdict.ts";
import {
  besides,
  endJob,
  inTransaction,
  putBack,
  type Taken,
  type WorkerWorld,
  withCheckout,
} from "./world.ts";

/** A plan with its source. */
interface Planned extends FoundSource {
  readonly plan: PlanDocument;
}

/** The stage of planning. */
export const planning: Stage<Planned> = {
  waiting: ["pending"],
  working: "planning",
  mayBegin: async () => "yes",
  stateBefore: async () => "pending",
  canceledExit: null,
  async work(world, taken, { signal }) {
    const found = await readSource(world, taken, signal);
    const checkout = { commit: found.commit, signal };
    const plan = await withCheckout(world, taken.manifest, checkout, (order) =>
      world.threads.plan(order, signal),
    );
    return { ...found, plan };
  },
  end: endPlanning,
  fail: endFailed,
};

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

/** Decides what follows a plan: nothing, an apply, or the approval of a person. */
async function endPlanning(
  tx: Tx,
  world: WorkerWorld,
  taken: Taken,
  { plan, commit, kind }: Planned,
): Promise<void> {
  const { queue, config } = world;
  const { manifest, job } = taken;
  const { id, fence } = taken.run;
  const now = await lockRun(tx, id);
  if (now === undefined) return;
  if (kind === "reconcile" && now.generation < manifest.generation) {
    const why = "the manifest has changed meanwhile";
    if (!(await moveRun(tx, id, { from: "planning", to: "superseded", why }, { fence }))) return;
    await queue.complete(tx, job.queue, job);
    await tx.updateTable("manifests").set({ dirty: false }).where("id", "=", manifest.id).execute();
    await askForRun(tx, queue, manifest, newerManifest);
    return;
  }
  if (seesUnmanaged(plan) && (await isAnyAtWork(tx, besides(config.current(), manifest.tenant), id)))
    return giveBack(tx, world, taken, planning, busyDelay);
  const columns = planColumns(plan);
  const hasChanges = changesAnything(plan);
  if (!(await moveRun(tx, id, { from: "planning", to: "planned" }, { fence }, { ...columns, commit, kind })))
    return;
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
    return endJob(tx, world, taken);
  }
  if (!plan.applyable) {
    await moveRun(tx, id, { from: "planned", to: "blocked" }, {}, { exit_code: 4 });
    return endJob(tx, world, taken);
  }
  await moveRun(tx, id, { from: "planned", to: "policy_checked" });
  const tenant = config.current().tenants[manifest.tenant];
  if (columns.verdict === "safe" && manifest.auto === "safe" && tenant?.auto === "safe") {
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
  return endJob(tx, world, taken);
}

/** True if another run of these tenants makes objects just now: those that no state binds yet may be its own. */
async function isAnyAtWork(tx: Tx, tenants: readonly string[], run: string): Promise<boolean> {
  const other = await tx
    .selectFrom("runs")
    .select("id")
    .where("tenant", "in", tenants)
    .where("status", "in", making)
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

/** Ends a run that has no plan. */
async function endFailed(
  tx: Tx,
  world: WorkerWorld,
  taken: Taken,
  { message, exitCode, isOwnEnd }: WorkFailure,
): Promise<void> {
  const { id, fence } = taken.run;
  // A thread that ended by itself is tried again: the run counts how often.
  if (isOwnEnd) {
    if (await moveRun(tx, id, { from: "planning", to: "pending", why: message }, { fence }))
      await putBack(tx, world.queue, taken.job, busyDelay);
    return;
  }
  const way = { from: "planning", to: "errored", why: message } as const;
  if (!(await moveRun(tx, id, way, { fence }, outcome(exitCode, [message])))) return;
  await tx.updateTable("manifests").set({ trouble: message }).where("id", "=", taken.manifest.id).execute();
  await endJob(tx, world, taken);
}
