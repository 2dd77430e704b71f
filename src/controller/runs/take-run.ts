/** @module Takes a run for a worker: from then on what workers that had it before write has no effect. */
import type { Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import { lockBoth, moveRun, outcome } from "./moves.ts";
import {
  countFor,
  endJob,
  isOtherAtWork,
  maxAttempts,
  putBack,
  type RunJob,
  type Taken,
  type WorkerWorld,
} from "./world.ts";

/** The part of a run's life that a job carries out, as far as a run is taken for it. */
export interface Turn {
  /** States in which the run waits for it. */
  readonly waiting: readonly ("pending" | "approved" | "converging")[];
  /** The state in which it is at work; one that was found in it had a worker before. */
  readonly working: "planning" | "applying";
  /** Says whether a run that waits may begin now: how long it waits otherwise, in ms, or that it has ended instead. */
  readonly mayBegin: (
    world: WorkerWorld,
    tx: Tx,
    manifest: ManifestRow,
    run: RunRow,
  ) => Promise<"yes" | "ended" | number>;
}

/** Ms before a run whose manifest or tenant is busy is tried again. */
export const busyDelay = 5_000;

/** Resolves with undefined if there is nothing to do for this job, or not yet; the job is settled then. */
export async function takeRun(
  tx: Tx,
  world: WorkerWorld,
  job: RunJob,
  { waiting, working, mayBegin }: Turn,
): Promise<Taken | undefined> {
  const { queue, id: worker } = world;
  const found = await lockBoth(tx, job.data.run);
  const status = [...waiting, working].find((state) => state === found?.run.status);
  if (found === undefined || status === undefined) {
    await queue.complete(tx, job.queue, job);
    return undefined;
  }
  const { manifest, run } = found;
  if (manifest.removed_at !== null && status !== working) {
    await moveRun(tx, run.id, { from: status, to: "canceled", why: "the manifest was removed" });
    await endJob(tx, world, { job, manifest });
    return undefined;
  }
  const attempts = run.attempts + 1;
  if (attempts > maxAttempts) {
    const why = `the run was begun ${run.attempts} times without progress, and each time its worker ended`;
    await moveRun(tx, run.id, { from: status, to: "errored", why }, {}, outcome(1, [why]));
    await endJob(tx, world, { job, manifest });
    return undefined;
  }
  const columns = { fence: run.fence + 1, worker, attempts };
  const isResumed = status === working || status === "converging";
  const taken = { job, run: { ...run, ...columns }, manifest, isResumed };
  if (status === "planning" || status === "applying") {
    await tx
      .updateTable("runs")
      .set({ ...columns, updated_at: new Date() })
      .where("id", "=", run.id)
      .execute();
    await countFor(tx, worker, "takeovers");
    return taken;
  }
  const isBusy = await isOtherAtWork(tx, manifest.id, run.id);
  const answer = isBusy ? busyDelay : await mayBegin(world, tx, manifest, run);
  if (answer === "yes") {
    await moveRun(tx, run.id, { from: status, to: working }, {}, columns);
    return taken;
  }
  if (answer === "ended") await queue.complete(tx, job.queue, job);
  else await putBack(tx, queue, job, answer);
  return undefined;
}
