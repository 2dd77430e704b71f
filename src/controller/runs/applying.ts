/** @module Applies a run in a thread, within the approved plan, and decides the next state. */
import { sql } from "kysely";
import { GraphformError } from "../../index.ts";
import { databaseClock, type Tx } from "../database/connect.ts";
import { withCheckout } from "./checkout.ts";
import type { Next, Stage } from "./execute-run.ts";
import { lacksMade, type Made } from "./made-objects.ts";
import { lastFailover } from "./restored.ts";
import {
  freeApplies,
  lockManifest,
  outcome,
  overtaken,
  setApproved,
  supersede,
  waitingRuns,
} from "./run-moves.ts";
import { type Applied, databaseAway, type Failure, threadEnded } from "./thread-pool.ts";
import { planColumns } from "./verdict.ts";
import { inTransaction, type Taken, type WorkerContext } from "./worker-context.ts";

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
    const failover = await lastFailover(context.database);
    const isOld = failover !== undefined && run.created_at < failover;
    const approved = { fingerprint: run.fingerprint ?? "", document, isResumed, isOld };
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
async function endApply(
  tx: Tx,
  _world: WorkerContext,
  taken: Taken,
  applied: Applied,
  made: Made,
): Promise<Next> {
  if (await lacksMade(tx, taken.manifest, made)) return stateLost(taken, "its state lacks what it has made");
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
  const manifest = { checked_at: databaseClock, drifted_at: null, trouble: null, restored_to: null };
  return { from: "applying", to: "applied", columns, manifest };
}

/** Decides the next state after an apply that was refused, or ended by an error. */
function endFailed(taken: Taken, { code, message, exitCode }: Failure, back: Next): Next {
  const { attempts } = taken.run;
  if (code === "state-conflict") return stateLost(taken, message);
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

/** The end of a run whose state is not the one that it has stored: it may lack objects, so that the next plan waits for a person. */
function stateLost(taken: Taken, why: string): Next {
  return { ...stale(taken, why), manifest: { restored_to: databaseClock } };
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
