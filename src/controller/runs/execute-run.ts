/** @module Carries out the job of a run: takes the run, does its work beside a watch, and ends it, each in one transaction. */
import type { Updateable } from "kysely";
import { databaseClock, type Tx } from "../database/connect.ts";
import type { Schema } from "../database/schema.ts";
import { addMade, type Made, noteMade } from "./made-objects.ts";
import { isSettled } from "./restored.ts";
import {
  type Asking,
  addEvents,
  beginWhatWasAsked,
  type Columns,
  lockBoth,
  lockManifest,
  moveRun,
  outcome,
  sendApplies,
  setManifest,
  setRun,
  storePlan,
} from "./run-moves.ts";
import { transact } from "./seen-events.ts";
import { type Failure, failureOf } from "./thread-pool.ts";
import { atWork, making, type RunEvent, type RunStatus, type Way } from "./transitions.ts";
import type { PlanDocument } from "./verdict.ts";
import {
  countFor,
  countOthers,
  inTransaction,
  type RunJob,
  type Taken,
  type WorkerContext,
} from "./worker-context.ts";

/** Times that a run is taken in a row, without progress: before it ends, and before it runs alone, since it may be killing its workers. */
const [maxAttempts, suspectAfter] = [6, 3];

/** Ms before a run whose manifest, tenant or process is busy is tried again. */
export const busyDelay = 5_000;

/** The end of the work of a job: the way of its run, and the return of the job. */
export type Next = Way & {
  readonly columns?: Columns;
  /** Columns of its manifest. */
  readonly manifest?: Updateable<Schema["manifests"]>;
  readonly plan?: PlanDocument;
  /** The upload whose files may not stay in the database. */
  readonly forgottenUpload?: string | null;
  /** Ms after which the job comes again. Absent: it is done. */
  readonly after?: number;
  /** The run that begins now, in place of the one that was asked for meanwhile. */
  readonly asking?: Asking;
};

/** The work of one kind of jobs, and its ends. In `end` and `fail` the manifest is the row as it is now, locked. */
export interface Stage<Result> {
  /** The state in which the run is at work; one that was found in it had a worker before. */
  readonly working: "planning" | "applying";
  /** The ways to it. */
  readonly ways: readonly Extract<Way, { readonly to: "planning" | "applying" }>[];
  /** Says whether a run that waits may begin now, or its other way. `no`: it gets another job when it may. */
  readonly mayBegin?: (context: WorkerContext, tx: Tx, taken: Taken) => Promise<"yes" | "no" | Next>;
  readonly work: (context: WorkerContext, taken: Taken, watch: Watch) => Promise<Result>;
  readonly end: (
    tx: Tx,
    context: WorkerContext,
    taken: Taken,
    result: Result,
    made: Made,
  ) => Promise<Next | undefined>;
  readonly fail: (taken: Taken, failure: Failure, back: Next) => Next;
  /** The way back of a run that is put back as it was before it was taken. */
  readonly back: (tx: Tx, taken: Taken) => Promise<Way>;
}

/** Resolves when the job is settled, or left to the worker that has the run by now. */
export async function executeRun<Result>(
  context: WorkerContext,
  job: RunJob,
  stage: Stage<Result>,
): Promise<void> {
  const taken = await inTransaction(context, (tx) => takeRun(tx, context, job, stage));
  if (taken === undefined) return;
  const { run } = taken;
  const endRun = (decide: (tx: Tx, now: Taken) => Promise<Next | undefined>): Promise<boolean> =>
    inTransaction(context, async (tx) => {
      const manifest = await lockManifest(tx, run.manifest_id);
      if (manifest === undefined) return false;
      const now = { ...taken, manifest };
      const next = await decide(tx, now);
      return next !== undefined && (await follow(tx, context, now, next));
    });
  const leave = await context.enter(run.attempts >= suspectAfter);
  if (leave === undefined) return void (await endRun((tx, now) => putBack(tx, stage, now, busyDelay)));
  const watch = watchRun(context, run.id, run.fence);
  let isWell = false;
  try {
    const result = await stage.work(context, taken, watch);
    await watch.end();
    isWell = await endRun((tx, now) => stage.end(tx, context, now, result, watch.made));
  } catch (error) {
    await watch.end();
    await endRun(async (tx, now) => {
      const { reason } = watch.signal;
      if (reason === "lost") return undefined;
      if (reason === "stopping") return putBack(tx, stage, now, 1_000);
      if (reason === "canceled")
        return {
          from: stage.working,
          to: "canceled",
          columns: { exit_code: stage.working === "applying" ? 130 : null },
        };
      return stage.fail(now, failureOf(error), await putBack(tx, stage, now, busyDelay));
    });
  } finally {
    leave();
  }
  if (!isWell) await noteMade(context.database, taken, watch.made);
}

/** The way of a run that is put back for `after` ms: it is not charged with the attempt. */
export async function putBack(
  tx: Tx,
  { back }: Pick<Stage<never>, "back">,
  taken: Taken,
  after: number,
): Promise<Next> {
  return { ...(await back(tx, taken)), columns: { attempts: taken.run.attempts - 1 }, after };
}

/** States of a run that has a part in the limit of its tenant, or waits for it. */
const mayApply: readonly RunStatus[] = ["approved", ...making];

/** Does the further work of the end of a run, if the run is still this worker's: otherwise nothing was written, and it resolves with false. */
async function follow(
  tx: Tx,
  context: WorkerContext,
  { job, run, manifest }: Pick<Taken, "job" | "run" | "manifest">,
  { columns, manifest: facts, plan, forgottenUpload, after, asking, ...way }: Next,
): Promise<boolean> {
  const { queue, config } = context;
  const { id, fence } = run;
  if (!(await moveRun(tx, id, way, { fence }, columns))) return false;
  if (plan !== undefined) await storePlan(tx, id, plan);
  if (facts !== undefined) await setManifest(tx, manifest.id, facts);
  if (forgottenUpload !== undefined)
    await tx
      .deleteFrom("uploads")
      .where("manifest_id", "=", manifest.id)
      .where("digest", "=", forgottenUpload)
      .execute();
  await queue.complete(tx, job.queue, job);
  if (after !== undefined) await queue.send(tx, job.queue, id, job.data, after);
  if ([way.from, way.to].some((status) => mayApply.includes(status)))
    await sendApplies(tx, context, manifest.tenant);
  if (after !== undefined) return true;
  await beginWhatWasAsked(tx, queue, manifest, asking);
  // Without receivers there is no notification: most checks end here.
  if (Object.keys(config.current().webhooks).length > 0)
    await queue.send(tx, "notify", manifest.id, { manifest: manifest.id });
  return true;
}

/** Takes a run: what its earlier workers write has no effect from then on. Undefined: nothing to do for this job, or not yet; it is settled. */
async function takeRun(
  tx: Tx,
  context: WorkerContext,
  job: RunJob,
  { ways, working, mayBegin = async () => "yes" }: Pick<Stage<never>, "ways" | "working" | "mayBegin">,
): Promise<Taken | undefined> {
  const { queue, id: worker } = context;
  const leave = async (after?: number): Promise<undefined> => {
    await queue.complete(tx, job.queue, job);
    if (after !== undefined) await queue.send(tx, job.queue, job.data.run, job.data, after);
    return undefined;
  };
  const found = await lockBoth(tx, job.data.run);
  const way = ways.find(({ from }) => from === found?.run.status);
  if (found === undefined || (way === undefined && found.run.status !== working)) return leave();
  const { manifest, run } = found;
  if (working === "applying" && !(await isSettled(tx))) return leave(busyDelay);
  const from = way?.from ?? working;
  const end = async (next: Next): Promise<undefined> => {
    await follow(tx, context, { job, run, manifest }, next);
    return undefined;
  };
  if (manifest.removed_at !== null && way !== undefined)
    return end({ from, to: "canceled", why: "the manifest was removed" });
  if (run.attempts >= maxAttempts) {
    const why = `the run was begun ${run.attempts} times without progress, and each time its worker ended`;
    return end({ from, to: "errored", why, columns: outcome(1, [why]) });
  }
  const columns = { fence: run.fence + 1, worker, attempts: run.attempts + 1 };
  const isResumed = way === undefined || way.from === "converging";
  const taken = { job, run: { ...run, ...columns }, manifest, isResumed };
  if (way === undefined) {
    await setRun(tx, run.id, { ...columns, updated_at: databaseClock });
    await countFor(tx, worker, "takeovers");
    return taken;
  }
  // The manifest's row is locked, and nothing begins without that lock.
  const isBusy = (await countOthers(tx, run.id, ["manifest_id", [manifest.id]], atWork)) > 0;
  const answer = isBusy ? "no" : await mayBegin(context, tx, taken);
  if (answer === "yes") {
    await moveRun(tx, run.id, way, {}, columns);
    return taken;
  }
  if (typeof answer === "object") return end(answer);
  return leave(isBusy ? busyDelay : undefined);
}

export interface Watch {
  /** Objects that the run has made until now. */
  readonly made: Made;
  /** Aborted with the reason `canceled`, `stopping` or `lost`. */
  readonly signal: AbortSignal;
  /** Adds an event to the log. `isProgress`: the run is not charged any more with the deaths of workers before it. */
  add(event: RunEvent, isProgress?: boolean): void;
  end(): Promise<void>;
}

const interval = 1_000;

/** A database that does not answer ends nothing: the lease of the state says when a run may not go on. */
function watchRun(context: WorkerContext, run: string, fence: number): Watch {
  const { database, stopping } = context;
  const ended = new AbortController();
  const made = new Map<string, { id: string; isDone: boolean }>();
  let pending: RunEvent[] = [];
  let hasProgress = false;
  let looking: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    const [events, progress] = [pending, hasProgress];
    [pending, hasProgress] = [[], false];
    try {
      const found = await transact(database, async (tx) => {
        if (!(await addEvents(tx, run, fence, events, progress ? { attempts: 0 } : {}))) return undefined;
        return tx.selectFrom("runs").select("cancel_requested_at").where("id", "=", run).executeTakeFirst();
      });
      if (found === undefined) {
        ended.abort("lost");
        await countFor(database, context.id, "fenced");
      } else if (found.cancel_requested_at !== null) ended.abort("canceled");
    } catch {
      pending = [...events, ...pending];
      hasProgress ||= progress;
    }
  };
  const beat = (): void => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
  };
  const timer = setInterval(beat, interval);
  const stop = (): void => ended.abort("stopping");
  stopping.addEventListener("abort", stop);
  if (stopping.aborted) stop();
  return {
    signal: ended.signal,
    made,
    add(event, isProgress = false) {
      addMade(made, event);
      pending.push(event);
      hasProgress ||= isProgress;
    },
    async end() {
      clearInterval(timer);
      stopping.removeEventListener("abort", stop);
      await looking;
      if (pending.length > 0) await look();
    },
  };
}
