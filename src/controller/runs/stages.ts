/** @module Plans a run in a thread, or applies it within the approved plan, and decides the next state. */

import { sql } from "kysely";
import { GraphformError } from "../../index.ts";
import type { Tx } from "../database/connect.ts";
import type { RunRow } from "../database/schema.ts";
import { newestCommit } from "../sources/git.ts";
import { besides, withCheckout } from "./checkout.ts";
import { busyDelay, type Next, putBack, type Stage } from "./execute-run.ts";
import { restoredWords } from "./restored.ts";
import {
  freeApplies,
  lockManifest,
  moveRun,
  newerManifest,
  openRuns,
  outcome,
  overtaken,
  setApproved,
  setManifest,
  storePlan,
} from "./run-moves.ts";
import { type Applied, databaseAway, type Failure, secretInClear, threadEnded } from "./thread-pool.ts";
import { making } from "./transitions.ts";
import { changesAnything, type PlanDocument, planColumns, seesUnmanaged } from "./verdict.ts";
import { countOthers, inTransaction, type Taken, type WorkerContext } from "./worker-context.ts";

interface Planned extends ChosenCommit {
  readonly plan: PlanDocument;
  readonly begun: Date;
}

/** Ms by which the clocks of two workers may differ. */
const clockDifference = 5_000;

/** Ms from its creation during which a run is planned again if neighbours are at work. */
const neighbourly = 10 * 60_000;

export const planning: Stage<Planned> = {
  working: "planning",
  ways: [{ from: "pending", to: "planning" }],
  back: async () => ({ from: "planning", to: "pending" }),
  async work(context, taken, { signal }) {
    const begun = new Date(Date.now() - clockDifference);
    const found = await chooseCommit(context, taken, signal);
    const make = (needsOthers: boolean): Promise<PlanDocument> =>
      withCheckout(context, taken.manifest, [found.commit, signal, needsOthers], (order) =>
        context.threads.plan(order, signal),
      );
    const plan = await make(false);
    // The ids that others bind matter only to a plan that may take an object for its own.
    return { ...found, begun, plan: seesUnmanaged(plan) ? await make(true) : plan };
  },
  end: endPlanning,
  fail({ run, manifest }, { code, message, exitCode }, back) {
    // The files of an upload go when a newer one comes.
    if (code === "source-gone" && manifest.source.type === "upload" && run.generation < manifest.generation)
      return { from: "planning", to: "superseded", why: message, asking: newerManifest };
    if (code === databaseAway) return { ...back, why: message };
    // An order whose thread ended unexpectedly is tried again; the run counts the attempts.
    if (code === threadEnded) return { from: "planning", to: "pending", why: message, after: busyDelay };
    const columns = outcome(exitCode, [message]);
    // A newer upload has replaced the files of an older one.
    const isNewest = run.generation === manifest.generation;
    const forgotten = code === secretInClear && isNewest ? { forgottenUpload: manifest.commit } : {};
    return {
      from: "planning",
      to: "errored",
      why: message,
      columns,
      manifest: { trouble: message },
      ...forgotten,
    };
  },
};

interface ChosenCommit {
  readonly commit: string;
  readonly kind: RunRow["kind"];
}

/**
 * Chooses the commit that the run is about, and stores it, so that another worker can go on. A check plans the newest commit until a plan
 * of it was made that nothing blocks; after that the approved one, so that drift is healed while a newer commit waits for its approval.
 */
async function chooseCommit(
  context: WorkerContext,
  { run, manifest }: Taken,
  signal: AbortSignal,
): Promise<ChosenCommit> {
  const newest = await newestCommit(manifest, context.config.current(), signal);
  const { approved_commit: approved, planned_commit: planned } = manifest;
  const isCheck = run.kind === "drift" && newest === planned && approved !== null;
  const found: ChosenCommit = isCheck
    ? { kind: "drift", commit: approved }
    : { kind: "reconcile", commit: newest };
  const isNew = newest !== manifest.commit;
  if (isNew || found.kind !== run.kind)
    await inTransaction(context, async (tx) => {
      const locked = await lockManifest(tx, manifest.id);
      if (locked === undefined || locked.generation !== manifest.generation) return;
      const generation = locked.generation + (isNew ? 1 : 0);
      await setManifest(tx, manifest.id, { commit: newest, generation });
      const row = tx.updateTable("runs").set({ ...found, generation });
      await row.where((where) => where.and({ id: run.id, fence: run.fence })).execute();
    });
  return found;
}

/** Decides the next state after a plan: the end, an apply, or the approval of a person. */
async function endPlanning(
  tx: Tx,
  { config }: WorkerContext,
  taken: Taken,
  { plan, commit, kind, begun }: Planned,
): Promise<Next | undefined> {
  const { manifest } = taken;
  const { id, fence } = taken.run;
  const row = tx.selectFrom("runs").select("generation").where("id", "=", id);
  const now = await row.forUpdate().executeTakeFirst();
  if (now === undefined) return undefined;
  const newer = overtaken({ kind, commit, ...now }, manifest);
  if (newer !== undefined) return { from: "planning", to: "superseded", ...newer };
  const { tenants } = config.current();
  const neighbours = besides(config.current(), manifest.tenant);
  // Objects that no state bound may be those that another run makes just now, or made while this one was planned.
  const isPatient = Date.now() - taken.run.created_at.getTime() < neighbourly;
  if (
    isPatient &&
    seesUnmanaged(plan) &&
    (await countOthers(tx, id, ["tenant", neighbours], making, begun)) > 0
  )
    return putBack(tx, planning, taken, busyDelay);
  const hasChanges = changesAnything(plan);
  const { restored_to: restored } = manifest;
  const doubts = restored === null || !hasChanges ? [] : [restoredWords(restored)];
  const columns = { ...planColumns(plan, doubts), commit, kind };
  const seen = new Date();
  const drifted = hasChanges
    ? kind === "drift"
      ? (manifest.drifted_at ?? seen)
      : manifest.drifted_at
    : null;
  const isBlocked = hasChanges && !plan.applyable;
  const planned = kind === "reconcile" && !isBlocked ? { planned_commit: commit } : {};
  const facts = { manifest: { checked_at: seen, trouble: null, drifted_at: drifted, ...planned } };
  const waiting = await waitingRuns(tx, manifest.id, kind);
  const same = waiting.find(
    (run) => run.commit === commit && run.fingerprint === columns.fingerprint && !overtaken(run, manifest),
  );
  if (same !== undefined) {
    const why = `the same plan waits for an approval: run ${same.id}`;
    return { from: "planning", to: "superseded", why, columns: outcome(8, [why]), ...facts };
  }
  if (!(await moveRun(tx, id, { from: "planning", to: "planned" }, { fence }, columns))) return undefined;
  await storePlan(tx, id, plan);
  await supersede(tx, waiting);
  if (!hasChanges) {
    await setApproved(tx, manifest, commit);
    return { from: "planned", to: "planned_and_finished", columns: { exit_code: 0 }, ...facts };
  }
  if (isBlocked) return { from: "planned", to: "blocked", columns: { exit_code: 4 }, ...facts };
  await moveRun(tx, id, { from: "planned", to: "policy_checked" });
  if (columns.verdict === "risky") return { from: "policy_checked", to: "needs_approval", ...facts };
  if (manifest.auto === "safe" && tenants[manifest.tenant]?.auto === "safe")
    return { from: "policy_checked", to: "approved", why: "safe: by the rules of the tenant", ...facts };
  const why = "safe, but `auto` of the manifest or of its tenant leaves every change to a person";
  return { from: "policy_checked", to: "needs_approval", why, ...facts };
}

async function waitingRuns(tx: Tx, manifest: string, kind: RunRow["kind"]): Promise<readonly RunRow[]> {
  const open = await openRuns(tx, manifest);
  return open.filter((run) => run.kind === kind && run.status === "needs_approval");
}

/** A newer plan replaces those that wait for an approval: they are outdated. */
async function supersede(tx: Tx, waiting: readonly RunRow[]): Promise<void> {
  for (const { id } of waiting)
    await moveRun(tx, id, { from: "needs_approval", to: "superseded", why: "a newer plan was made" });
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
  async work(context, taken, { signal, add }) {
    const { run, manifest, isResumed } = taken;
    if (isResumed) add({ type: "note", message: "another worker goes on with this run" });
    const plans = context.database.selectFrom("plans").select("document").where("run_id", "=", run.id);
    const { document } = await plans.executeTakeFirstOrThrow();
    const approved = { fingerprint: run.fingerprint ?? "", document, isResumed };
    const applied = await withCheckout(context, manifest, [run.commit ?? "", signal, true], async (order) => {
      await approveFound(context, taken);
      return context.threads.apply({ ...order, approved }, signal, (event) =>
        add({ type: "apply", event }, event.type === "step-end"),
      );
    });
    if ("exitCode" in applied && applied.exitCode === 130) signal.throwIfAborted();
    return applied;
  },
  end: endApply,
  fail: endFailed,
};

/** Says whether an approved run may begin: its manifest is the same, and its tenant has fewer at work than it may. */
async function mayBegin(
  { config }: WorkerContext,
  tx: Tx,
  { run, manifest }: Taken,
): Promise<"yes" | "no" | Next> {
  if (run.status === "converging") return "yes";
  const newer = overtaken(run, manifest);
  if (newer !== undefined) return { from: "approved", to: "superseded", ...newer };
  return (await freeApplies(tx, config, manifest.tenant)) < 1 ? "no" : "yes";
}

/** Notes the commit of a run that begins: its files were read, so that they can be read again for drift. */
async function approveFound(context: WorkerContext, { run, manifest }: Taken): Promise<void> {
  await inTransaction(context, async (tx) => {
    const locked = await lockManifest(tx, manifest.id);
    const mine = tx
      .selectFrom("runs")
      .select("id")
      .where((where) => where.and({ id: run.id, fence: run.fence }));
    if (locked === undefined || (await mine.executeTakeFirst()) === undefined)
      throw new GraphformError("lock-lost", "another worker has this run");
    await setApproved(tx, locked, run.commit);
  });
}

/** Decides the next state after an apply, by its outcome. */
async function endApply(tx: Tx, _world: WorkerContext, taken: Taken, applied: Applied): Promise<Next> {
  const { kind, manifest_id } = taken.run;
  if ("refused" in applied) {
    const { refused: plan, why } = applied;
    // A run that has begun waits for an approval of the rest; one that has not is planned again.
    if (!taken.isResumed) return stale(taken, why);
    await supersede(tx, await waitingRuns(tx, manifest_id, kind));
    return { from: "applying", to: "needs_approval", why, columns: planColumns(plan, [why]), plan };
  }
  const { exitCode, reasons } = applied;
  const columns = outcome(exitCode, reasons);
  if ((exitCode === 7 || exitCode === 8) && taken.manifest.dirty)
    return stale(taken, [...reasons, "a newer commit is planned instead of waiting"].join("; "));
  if (exitCode === 7 || exitCode === 8)
    return {
      ...{ from: "applying", to: "converging", columns: { ...columns, attempts: 0 } },
      after: convergingDelay,
    };
  if (exitCode === 6) return stale(taken, reasons.join("; "));
  if (exitCode !== 0) return { from: "applying", to: "errored", why: reasons.join("\n"), columns };
  const manifest = { checked_at: new Date(), drifted_at: null, trouble: null, restored_to: null };
  return { from: "applying", to: "applied", columns, manifest };
}

/** Decides the next state after an apply that was refused, or ended by an error. */
function endFailed(taken: Taken, { code, message, exitCode }: Failure, back: Next): Next {
  const { attempts } = taken.run;
  if (exitCode === 5) return { ...back, why: message, after: lockedDelay };
  if (exitCode === 6) return stale(taken, message);
  // The state's store was away, or the thread ended: open requests are intents in the state, which the next holder resolves.
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
  const found = await events
    .where(sql`event -> 'event' ->> 'type'`, "=", "step-start")
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
