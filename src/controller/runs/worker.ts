/** @module Starts a worker: its threads, its slots in the queues, and its row in the table of workers. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import process from "node:process";
import { databaseClock, databaseTime } from "../database/connect.ts";
import { notifyManifest } from "../notify/notify.ts";
import { applying } from "./applying.ts";
import { executeRun } from "./execute-run.ts";
import { planning } from "./planning.ts";
import { openThreads } from "./thread-pool.ts";
import { buryRun, tick } from "./tick.ts";
import { openGate, type WorkerContext } from "./worker-context.ts";

export interface WorkerOptions extends Pick<WorkerContext, "database" | "databaseUrl" | "queue" | "config"> {
  /** Runs at a time in each of the three queues. */
  readonly slots: number;
  readonly version: string;
  readonly thread: URL;
  readonly onTrouble: (error: Error) => void;
}

/** Ms that a suspect waits for the others in its process; ms between two signs of life. */
const [patience, signOfLife] = [60_000, 10_000];

/** Starts a worker. `stop` ends it within about `ms`: runs reach their next boundary and are put back. */
export async function startWorker(
  options: WorkerOptions,
): Promise<{ readonly id: string; readonly stop: (ms: number) => Promise<void> }> {
  const { database, databaseUrl, queue, config, slots, version, onTrouble } = options;
  const id = randomUUID();
  const stopping = new AbortController();
  const threads = openThreads(options.thread);
  const parts = { id, database, databaseUrl, queue, config, threads };
  const context: WorkerContext = { ...parts, enter: openGate(patience), stopping: stopping.signal };
  const started_at = await databaseTime(database);
  const ahead = Math.round((Date.now() - started_at.getTime()) / 1000);
  const words = `this machine's clock differs by ${ahead} s from the database's: synchronize both with NTP`;
  if (Math.abs(ahead) > 5) onTrouble(new Error(words));
  const live = async (): Promise<void> => {
    const row = { host: hostname(), pid: process.pid, version, slots, seen_at: databaseClock };
    await database
      .insertInto("workers")
      .values({ id, started_at, ...row })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at: row.seen_at }))
      .execute();
  };
  await live();
  const timer = setInterval(() => void live().catch(onTrouble), signOfLife);
  await queue.work("apply", slots, (job) => executeRun(context, { ...job, queue: "apply" }, applying));
  for (const name of ["plan", "drift"] as const)
    await queue.work(name, slots, (job) => executeRun(context, { ...job, queue: name }, planning));
  await queue.work("notify", 1, (job) => notifyManifest(context, job.data.manifest));
  await queue.work("tick", 1, () => tick(context).catch(onTrouble));
  await queue.workDeadLetters(async ({ run }) => (run === undefined ? undefined : buryRun(context, run)));
  return {
    id,
    async stop(ms) {
      stopping.abort();
      clearInterval(timer);
      await queue.stop(ms);
      await threads.close();
      await database.deleteFrom("workers").where("id", "=", id).execute().catch(onTrouble);
    },
  };
}
