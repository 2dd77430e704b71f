/** @module Applies an approved run in a thread, within what was approved, and decides what follows. */
import { sql } from "kysely";
import type { Tx } from "../database/connect.ts";
import { busyDelay, type Next, type Stage } from "./carry-out.ts";
import { withCheckout } from "./checkout.ts";
import { newerManifest, outcome } from "./moves.ts";
import { supersedeWaiting } from "./plan-run.ts";
import { type Applied, databaseAway, type Failure, threadEnded } from "./threads.ts";
import { making } from "./transitions.ts";
import { planColumns } from "./verdict.ts";
import { countOthers, type Taken, type WorkerWorld } from "./world.ts";

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
  canceledExit: 130,
  async work(world, { run, manifest, isResumed }, { signal, add }) {
    if (isResumed) add({ type: "note", message: "another worker goes on with this run" });
    const { document } = await world.database
      .selectFrom("plans")
      .select("document")
      .where("run_id", "=", run.id)
      .executeTakeFirstOrThrow();
    const approved = { fingerprint: run.fingerprint ?? "", document, isResumed };
    const checkout = { commit: run.commit ?? "", signal, creates: true };
    const applied = await withCheckout(world, manifest, checkout, (order) =>
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

/**
 * Says whether an approved run may begin. The runs of the tenant are counted under the lock of its row, so that two workers never let in
 * one too many.
 */
async function mayBegin(
  { config }: WorkerWorld,
  tx: Tx,
  { run, manifest }: Taken,
): Promise<"yes" | number | Next> {
  if (run.status === "converging") return "yes";
  if (run.kind === "reconcile" && run.generation < manifest.generation) {
    const why = "the manifest has changed since the approval";
    return { from: "approved", to: "superseded", why, asking: newerManifest };
  }
  const { tenant } = manifest;
  await tx.selectFrom("tenants").select("name").where("name", "=", tenant).forUpdate().execute();
  const atWork = await countOthers(tx, run.id, ["tenant", [tenant]], making);
  return atWork < (config.current().tenants[tenant]?.maxConcurrent ?? 1) ? "yes" : busyDelay;
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
  const found = await tx
    .selectFrom("run_events")
    .select("id")
    .where("run_id", "=", run)
    .where(sql`event ->> 'type'`, "=", "apply")
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
