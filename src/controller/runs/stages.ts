/** @module Plans a run in a thread, or applies it within what was approved, and decides what follows. */

import { sql } from "kysely";
import type { Tx } from "../database/connect.ts";
import type { RunRow } from "../database/schema.ts";
import { newestCommit } from "../sources/git.ts";
import { busyDelay, type Next, putBack, type Stage } from "./carry-out.ts";
import { besides, withCheckout } from "./checkout.ts";
import {
  freeApplies,
  keepPlan,
  lockManifest,
  moveRun,
  newerManifest,
  openRuns,
  outcome,
  setApproved,
  setManifest,
} from "./moves.ts";
import { restoredWords } from "./restored.ts";
import { type Applied, databaseAway, type Failure, threadEnded } from "./threads.ts";
import { making } from "./transitions.ts";
import { changesAnything, type PlanDocument, planColumns, seesUnmanaged } from "./verdict.ts";
import { countOthers, inTransaction, type Taken, type WorkerWorld } from "./world.ts";

interface Planned extends FoundSource {
  readonly plan: PlanDocument;
  readonly begun: Date;
}

/** Ms by which the clocks of two workers may differ. */
const clockDifference = 5_000;

export const planning: Stage<Planned> = {
  working: "planning",
  ways: [{ from: "pending", to: "planning" }],
  back: async () => ({ from: "planning", to: "pending" }),
  async work(world, taken, { signal }) {
    const begun = new Date(Date.now() - clockDifference);
    const found = await readSource(world, taken, signal);
    const plan = await withCheckout(world, taken.manifest, [found.commit, signal], (order) =>
      world.threads.plan(order, signal),
    );
    return { ...found, plan, begun };
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
      const generation = locked.generation + 1;
      await setManifest(tx, manifest.id, { commit: newest, generation });
      const row = tx.updateTable("runs").set({ generation });
      await row.where((where) => where.and({ id: run.id, fence: run.fence })).execute();
    });
  const { approved_commit: approved } = manifest;
  if (run.kind === "reconcile" || isNew || approved === null) return { kind: "reconcile", commit: newest };
  return { kind: "drift", commit: approved };
}

/** Decides what follows a plan: nothing, an apply, or the approval of a person. */
async function endPlanning(
  tx: Tx,
  { config }: WorkerWorld,
  taken: Taken,
  { plan, commit, kind, begun }: Planned,
): Promise<Next | undefined> {
  const { manifest } = taken;
  const { id, fence } = taken.run;
  const row = tx.selectFrom("runs").select("generation").where("id", "=", id);
  const now = await row.forUpdate().executeTakeFirst();
  if (now === undefined) return undefined;
  if (kind === "reconcile" && now.generation < manifest.generation) {
    const why = "the manifest has changed meanwhile";
    return { from: "planning", to: "superseded", why, asking: newerManifest };
  }
  const { tenants } = config.current();
  const neighbours = besides(config.current(), manifest.tenant);
  // Objects that no state bound may be those that another run makes just now, or made while this one was planned.
  if (seesUnmanaged(plan) && (await countOthers(tx, id, ["tenant", neighbours], making, begun)) > 0)
    return putBack(tx, planning, taken, busyDelay);
  const hasChanges = changesAnything(plan);
  const { restored_to: restored } = manifest;
  const doubts = restored === null || !hasChanges ? [] : [restoredWords(restored)];
  const columns = { ...planColumns(plan, doubts), commit, kind };
  if (!(await moveRun(tx, id, { from: "planning", to: "planned" }, { fence }, columns))) return undefined;
  await keepPlan(tx, id, plan);
  const seen = new Date();
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
    return { from: "policy_checked", to: "approved", why: "safe: by the rules of the tenant", ...facts };
  }
  await supersedeWaiting(tx, manifest.id, kind);
  return { from: "policy_checked", to: "needs_approval", ...facts };
}

/** A newer plan of the same kind takes the place of one that waits: its approval would be about what is not so any more. */
async function supersedeWaiting(tx: Tx, manifest: string, kind: RunRow["kind"]): Promise<void> {
  for (const run of await openRuns(tx, manifest))
    if (run.kind === kind && run.status === "needs_approval")
      await moveRun(tx, run.id, { from: run.status, to: "superseded", why: "a newer plan was made" });
}

/** Ms before a run is tried again whose state is locked by another one, or that goes on converging. */
const [lockedDelay, convergingDelay] = [15_000, 30_000];

export const applying: Stage<Applied> = {
  working: "applying",
  ways: [
    { from: "approved", to: "applying" },
    { from: "converging", to: "applying" },
  ],
  mayBegin,
  // One that has begun goes on as such.
  back: async (tx, { run, isResumed }) =>
    isResumed || (await hasSteps(tx, run.id))
      ? { from: "applying", to: "converging" }
      : { from: "applying", to: "approved" },
  async work(world, { run, manifest, isResumed }, { signal, add }) {
    if (isResumed) add({ type: "note", message: "another worker goes on with this run" });
    const plans = world.database.selectFrom("plans").select("document").where("run_id", "=", run.id);
    const { document } = await plans.executeTakeFirstOrThrow();
    const approved = { fingerprint: run.fingerprint ?? "", document, isResumed };
    const applied = await withCheckout(world, manifest, [run.commit ?? "", signal, true], (order) =>
      world.threads.apply({ ...order, approved }, signal, (event) =>
        add({ type: "apply", event }, event.type === "step-end"),
      ),
    );
    if ("exitCode" in applied && applied.exitCode === 130) signal.throwIfAborted();
    return applied;
  },
  end: endApply,
  fail: endFailed,
};

/** Says whether an approved run may begin: its manifest is the same, and its tenant has fewer at work than it may. */
async function mayBegin(
  { config }: WorkerWorld,
  tx: Tx,
  { run, manifest }: Taken,
): Promise<"yes" | "no" | Next> {
  if (run.status === "converging") return "yes";
  if (run.kind === "reconcile" && run.generation < manifest.generation) {
    const why = "the manifest has changed since the approval";
    return { from: "approved", to: "superseded", why, asking: newerManifest };
  }
  return (await freeApplies(tx, config, manifest.tenant)) > 0 ? "yes" : "no";
}

/** Decides what follows an apply by what it came to. */
async function endApply(tx: Tx, _world: WorkerWorld, taken: Taken, applied: Applied): Promise<Next> {
  const { kind, manifest_id } = taken.run;
  if ("refused" in applied) {
    const { refused: plan, why } = applied;
    // One that has begun waits for an approval of what is left; one that has not is planned again.
    if (!taken.isResumed) return stale(taken, why);
    await supersedeWaiting(tx, manifest_id, kind);
    return { from: "applying", to: "needs_approval", why, columns: planColumns(plan, [why]), plan };
  }
  const { exitCode, reasons } = applied;
  const columns = outcome(exitCode, reasons);
  if (exitCode === 7 || exitCode === 8)
    return {
      ...{ from: "applying", to: "converging", columns: { ...columns, attempts: 0 } },
      after: convergingDelay,
    };
  if (exitCode === 6) return stale(taken, reasons.join("; "));
  if (exitCode !== 0) return { from: "applying", to: "errored", columns };
  const manifest = { checked_at: new Date(), drifted_at: null, trouble: null };
  return { from: "applying", to: "applied", columns, manifest };
}

/** Decides what follows an apply that was refused, or ended by an error. */
function endFailed(taken: Taken, { code, message, exitCode }: Failure, back: Next): Next {
  const { attempts } = taken.run;
  if (exitCode === 5) return { ...back, after: lockedDelay };
  if (exitCode === 6) return stale(taken, message);
  // The state's store was away, or the thread ended: what was begun stands in the state as an intent, and the next holder resolves it.
  const isOwnEnd = code === threadEnded;
  if (isOwnEnd || code === databaseAway || code === "lock-lost") {
    const columns = { attempts: isOwnEnd ? attempts : attempts - 1 };
    return { from: "applying", to: "converging", why: message, columns, after: lockedDelay };
  }
  return { from: "applying", to: "errored", why: message, columns: outcome(exitCode, [message]) };
}

/** The end of a run whose plan is not what would be done any more: it is planned again. */
function stale({ run, manifest }: Taken, why: string): Next {
  const kind = manifest.dirty ? "reconcile" : run.kind;
  const asking = { kind, trigger: "request", actor: "controller" } as const;
  return { from: "applying", to: "stale", why, columns: outcome(6, [why]), asking };
}

/** True if the log shows a step that was begun. */
async function hasSteps(tx: Tx, run: string): Promise<boolean> {
  const events = tx.selectFrom("run_events").select("id").where("run_id", "=", run);
  const found = await events.where(sql`event ->> 'type'`, "=", "apply").limit(1).executeTakeFirst();
  return found !== undefined;
}
