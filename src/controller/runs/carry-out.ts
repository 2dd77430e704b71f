/** @module Carries out the job of a run: takes the run, does its work beside a watch, and ends it, each in one transaction. */
import type { Tx } from "../database/connect.ts";
import { lockManifest, moveRun } from "./moves.ts";
import { busyDelay, type Turn, takeRun } from "./take-run.ts";
import { failureOfOrder } from "./threads.ts";
import { type Watch, watchRun } from "./watch.ts";
import {
  endJob,
  inTransaction,
  putBack,
  type RunJob,
  suspectAfter,
  type Taken,
  type WorkerWorld,
} from "./world.ts";

/** A failure of the work, which was not told to end. */
export type WorkFailure = ReturnType<typeof failureOfOrder>;

/** The work of one kind of jobs, and its ends. In `end` and `fail` the manifest is the row as it is now, locked. */
export interface Stage<Result> extends Turn {
  readonly work: (world: WorkerWorld, taken: Taken, watch: Watch) => Promise<Result>;
  readonly end: (tx: Tx, world: WorkerWorld, taken: Taken, result: Result, watch: Watch) => Promise<void>;
  readonly fail: (tx: Tx, world: WorkerWorld, taken: Taken, failure: WorkFailure) => Promise<void>;
  /** The state of a run that is put back as it was before it was taken. */
  readonly stateBefore: (tx: Tx, taken: Taken) => Promise<"pending" | "approved" | "converging">;
  /** The exit code of a run that is canceled in this stage. */
  readonly canceledExit: number | null;
}

/** Resolves when the job is settled, or left to the worker that has the run by now. */
export async function carryOut<Result>(world: WorkerWorld, job: RunJob, stage: Stage<Result>): Promise<void> {
  const taken = await inTransaction(world, (tx) => takeRun(tx, world, job, stage));
  if (taken === undefined) return;
  const { run } = taken;
  const settle = (end: (tx: Tx, now: Taken) => Promise<void>): Promise<void> =>
    inTransaction(world, async (tx) => {
      const manifest = await lockManifest(tx, run.manifest_id);
      if (manifest !== undefined) await end(tx, { ...taken, manifest });
    });
  const leave = await world.company.enter(run.attempts >= suspectAfter);
  if (leave === undefined) return settle((tx, now) => giveBack(tx, world, now, stage, busyDelay));
  const watch = watchRun(world, run.id, run.fence);
  try {
    const result = await stage.work(world, taken, watch);
    await watch.end();
    await settle((tx, now) => stage.end(tx, world, now, result, watch));
  } catch (error) {
    await watch.end();
    await settle((tx, now) =>
      watch.reason() === undefined
        ? stage.fail(tx, world, now, failureOfOrder(error))
        : endCutShort(tx, world, now, stage, watch),
    );
  } finally {
    leave();
  }
}

/** Ends a run that was told to end: for good, or to go on elsewhere. One that another worker has is left alone. */
export async function endCutShort(
  tx: Tx,
  world: WorkerWorld,
  taken: Taken,
  stage: Pick<Stage<never>, "working" | "stateBefore" | "canceledExit">,
  watch: Watch,
): Promise<void> {
  const { id, fence } = taken.run;
  const reason = watch.reason();
  if (reason === "stopping") return giveBack(tx, world, taken, stage, 1_000);
  if (reason !== "canceled") return;
  const columns = { exit_code: stage.canceledExit };
  if (await moveRun(tx, id, { from: stage.working, to: "canceled" }, { fence }, columns))
    await endJob(tx, world, taken);
}

/** Puts a run back as it was before this worker took it: it is not charged with the attempt. */
export async function giveBack(
  tx: Tx,
  { queue }: WorkerWorld,
  taken: Taken,
  { working, stateBefore }: Pick<Stage<never>, "working" | "stateBefore">,
  ms: number,
): Promise<void> {
  const { id, fence, attempts } = taken.run;
  const way = { from: working, to: await stateBefore(tx, taken) };
  if (await moveRun(tx, id, way, { fence }, { attempts: attempts - 1 }))
    await putBack(tx, queue, taken.job, ms);
}
