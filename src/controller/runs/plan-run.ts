/** @module Plans a run: reads its source, plans in a thread, and decides what follows. */

import type { Tx } from "../database/connect.ts";
import type { RunRow } from "../database/schema.ts";
import { newestCommit } from "../sources/source.ts";
import { busyDelay, type Next, putBack, type Stage } from "./carry-out.ts";
import { besides, withCheckout } from "./checkout.ts";
import {
  keepPlan,
  lockManifest,
  moveRun,
  newerManifest,
  openRuns,
  outcome,
  setApproved,
  setCommit,
} from "./moves.ts";
import { databaseAway, threadEnded } from "./threads.ts";
import { making } from "./transitions.ts";
import { changesAnything, type PlanDocument, planColumns, seesUnmanaged } from "./verdict.ts";
import { countOthers, inTransaction, type Taken, type WorkerWorld } from "./world.ts";

interface Planned extends FoundSource {
  readonly plan: PlanDocument;
}

export const planning: Stage<Planned> = {
  working: "planning",
  ways: [{ from: "pending", to: "planning" }],
  back: async () => ({ from: "planning", to: "pending" }),
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
  fail(_taken, { code, message, exitCode }, back) {
    if (code === databaseAway) return { ...back, why: message };
    // A thread that ended by itself is tried again: the run counts how often.
    if (code === threadEnded) return { from: "planning", to: "pending", why: message, after: busyDelay };
    const columns = outcome(exitCode, [message]);
    return { from: "planning", to: "errored", why: message, columns, manifest: { trouble: message } };
  },
};

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
      const { id, fence } = run;
      const row = tx.updateTable("runs").set({ generation });
      await row.where((where) => where.and({ id, fence })).execute();
    });
  const { approved_commit: approved } = manifest;
  if (run.kind === "reconcile" || isNew || approved === null) return { kind: "reconcile", commit: newest };
  return { kind: "drift", commit: approved };
}

/** Decides what follows a plan: nothing, an apply, or the approval of a person. */
async function endPlanning(
  tx: Tx,
  { queue, config }: WorkerWorld,
  taken: Taken,
  { plan, commit, kind }: Planned,
): Promise<Next | undefined> {
  const { manifest } = taken;
  const { id, fence } = taken.run;
  const now = await tx
    .selectFrom("runs")
    .select("generation")
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (now === undefined) return undefined;
  if (kind === "reconcile" && now.generation < manifest.generation) {
    const why = "the manifest has changed meanwhile";
    return { from: "planning", to: "superseded", why, asking: newerManifest };
  }
  const { tenants } = config.current();
  const neighbours = besides(config.current(), manifest.tenant);
  // Objects that no state binds yet may be those that another run makes just now.
  if (seesUnmanaged(plan) && (await countOthers(tx, id, ["tenant", neighbours], making)) > 0)
    return putBack(tx, planning, taken, busyDelay);
  const columns = { ...planColumns(plan), commit, kind };
  if (!(await moveRun(tx, id, { from: "planning", to: "planned" }, { fence }, columns))) return undefined;
  await keepPlan(tx, id, plan);
  const seen = new Date();
  const hasChanges = changesAnything(plan);
  const drifted = hasChanges && kind === "drift" ? (manifest.drifted_at ?? seen) : null;
  const facts = { manifest: { checked_at: seen, trouble: null, drifted_at: drifted } };
  if (!hasChanges) {
    await setApproved(tx, manifest.id, commit);
    return { from: "planned", to: "planned_and_finished", columns: { exit_code: 0 }, ...facts };
  }
  if (!plan.applyable) return { from: "planned", to: "blocked", columns: { exit_code: 4 }, ...facts };
  await moveRun(tx, id, { from: "planned", to: "policy_checked" });
  if (columns.verdict === "safe" && manifest.auto === "safe" && tenants[manifest.tenant]?.auto === "safe") {
    await setApproved(tx, manifest.id, commit);
    await queue.send(tx, "apply", id, { run: id });
    return { from: "policy_checked", to: "approved", why: "safe: by the rules of the tenant", ...facts };
  }
  await supersedeWaiting(tx, manifest.id, kind);
  return { from: "policy_checked", to: "needs_approval", ...facts };
}

/** A newer plan of the same kind takes the place of one that waits: its approval would be about what is not so any more. */
export async function supersedeWaiting(tx: Tx, manifest: string, kind: RunRow["kind"]): Promise<void> {
  for (const run of await openRuns(tx, manifest))
    if (run.kind === kind && run.status === "needs_approval")
      await moveRun(tx, run.id, { from: run.status, to: "superseded", why: "a newer plan was made" });
}
