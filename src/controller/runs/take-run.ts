/** @module Takes a run for a worker: from then on what workers that had it before write has no effect. */
import type { Tx } from "../database/connect.ts";
import type { ManifestRow, RunRow } from "../database/schema.ts";
import type { Fetched } from "../queue/queue.ts";
import { lockManifest } from "./ask-for-run.ts";
import { lockRun, moveRun } from "./moves.ts";
import {
  countFor,
  endJob,
  isOtherAtWork,
  maxAttempts,
  putBack,
  type RunQueue,
  type Taken,
  type WorkerWorld,
} from "./world.ts";

/** The part of a run's life that a job carries out. */
export interface Stage {
  /** States in which the run waits for it. */
  readonly waiting: readonly ("pending" | "approved" | "converging")[];
  /** The state in which it is at work; one that was found in it had a worker before. */
  readonly working: "planning" | "applying";
  /** Says whether a run that waits may begin now: how long it waits otherwise, in ms, or that it has ended instead. */
  readonly mayBegin: (tx: Tx, manifest: ManifestRow, run: RunRow) => Promise<"yes" | "ended" | number>;
}

/** Ms before a run whose manifest or tenant is busy is tried again. */
export const busyDelay = 5_000;

/** Resolves with undefined if there is nothing to do for this job, or not yet; the job is settled then. */
export async function takeRun<N extends RunQueue>(
  tx: Tx,
  world: WorkerWorld,
  name: N,
  job: Fetched<N>,
  { waiting, working, mayBegin }: Stage,
): Promise<Taken | undefined> {
  const { queue, id: worker } = world;
  const found = await tx
    .selectFrom("runs")
    .select("manifest_id")
    .where("id", "=", job.data.run)
    .executeTakeFirst();
  const manifest = found && (await lockManifest(tx, found.manifest_id));
  const run = manifest && (await lockRun(tx, job.data.run));
  const status = [...waiting, working].find((state) => state === run?.status);
  if (manifest === undefined || run === undefined || status === undefined) {
    await queue.complete(tx, name, job);
    return undefined;
  }
  const end = { name, job, manifest };
  if (manifest.removed_at !== null && status !== working) {
    await moveRun(tx, run.id, { from: status, to: "canceled", why: "the manifest was removed" });
    await endJob(tx, queue, end);
    return undefined;
  }
  const attempts = run.attempts + 1;
  if (attempts > maxAttempts) {
    const why = `the run was begun ${run.attempts} times without progress, and each time its worker ended`;
    const columns = { reasons: JSON.stringify([why]), exit_code: 1 };
    await moveRun(tx, run.id, { from: status, to: "errored", why }, {}, columns);
    await endJob(tx, queue, end);
    return undefined;
  }
  const columns = { fence: run.fence + 1, worker, attempts };
  const taken = {
    run: { ...run, ...columns },
    manifest,
    isResumed: status === working || status === "converging",
  };
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
  const answer = isBusy ? busyDelay : await mayBegin(tx, manifest, run);
  if (answer === "yes") {
    if (status === "pending") await moveRun(tx, run.id, { from: status, to: "planning" }, {}, columns);
    else await moveRun(tx, run.id, { from: status, to: "applying" }, {}, columns);
    return taken;
  }
  if (answer === "ended") await queue.complete(tx, name, job);
  else await putBack(tx, queue, name, job, answer);
  return undefined;
}
