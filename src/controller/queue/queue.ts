/** @module The queues of jobs: everything that knows pg-boss. */
import { type ConstructorOptions, fromKysely, type Job, PgBoss } from "pg-boss";
import { poolSettings, type Tx } from "../database/connect.ts";

/** The queues. Jobs hold ids, never plans or secrets. */
export interface Queues {
  readonly plan: { readonly run: string };
  readonly drift: { readonly run: string };
  readonly apply: { readonly run: string };
  readonly notify: { readonly manifest: string };
  readonly tick: Record<string, never>;
}

export type QueueName = keyof Queues;

/** A job as it was fetched. Pass this object to `complete`: it does not touch a job that another worker has by now. */
export type Fetched<N extends QueueName> = Pick<Job<Queues[N]>, "id" | "retryCount" | "data">;

const schema = "graphform_queue";

/** The queue of jobs that ended too often. */
const deadLetters = "dead";

/** Seconds without a heartbeat after which a job counts as its worker's death; seconds between two looks for jobs, and for dead workers. */
const [heartbeatSeconds, pollingSeconds] = [30, 2];

/** Most notifications that are fetched at once: each check asks for one, and a slot looks once an interval. If one fails, all are fetched again. */
const notifications = 20;

/** pg-boss counts the death of a worker against every job of its process, so the run counts its own attempts. */
const retryLimit = 1_000;

/** Options of every queue of runs. One job for a key is queued or active. */
const ofRuns = {
  ...{
    policy: "exclusive",
    heartbeatSeconds,
    retryLimit,
    deadLetter: deadLetters,
    deleteAfterSeconds: 86_400,
  },
  // Longer than the longest pause.
  retentionSeconds: 400 * 86_400,
} as const;

const queues = {
  [deadLetters]: { retryLimit, deleteAfterSeconds: 86_400 },
  plan: { ...ofRuns, expireInSeconds: 3600 },
  drift: { ...ofRuns, expireInSeconds: 3600 },
  // The longest apply; a longer one ends `converging` and is sent again.
  apply: { ...ofRuns, expireInSeconds: 86_400 },
  // One that is queued while another is active: it tells what that one has not seen.
  notify: { policy: "stately", retryLimit: 20, retryBackoff: true, retryDelay: 5, retryDelayMax: 600 },
  tick: {
    policy: "exclusive",
    heartbeatSeconds,
    retryLimit: 0,
    expireInSeconds: 300,
    deleteAfterSeconds: 3600,
  },
} as const;

export interface Queue {
  /** Sends a job, in the transaction of its run. A second one for the same key is not sent while the first is queued or active. */
  send<N extends QueueName>(tx: Tx, name: N, key: string, data: Queues[N], after?: number): Promise<void>;
  complete<N extends QueueName>(tx: Tx, name: N, job: Fetched<N>): Promise<void>;
  /** Runs `handler` for each job, `slots` at a time. A handler that rejects gives its job back, to be tried again. */
  work<N extends QueueName>(
    name: N,
    slots: number,
    handler: (job: Fetched<N>) => Promise<void>,
  ): Promise<void>;
  /** Runs `handler` for each job that ended too often, with its data. */
  workDeadLetters(handler: (data: { readonly run?: string }) => Promise<void>): Promise<void>;
  /** The queues in which jobs wait for a worker: how many, and since how many seconds the oldest. */
  backlog(): Promise<readonly { readonly name: string; readonly ready: number; readonly oldest: number }[]>;
  /** Stops fetching and waits for the handlers at most `ms`. */
  stop(ms: number): Promise<void>;
}

/** Makes the tables of the queue; callers hold the lock of migrations. */
export async function installQueue(url: string): Promise<void> {
  const boss = new PgBoss({ ...settings(url), migrate: true, createSchema: true, schedule: false });
  boss.on("error", () => undefined);
  await boss.start();
  for (const [name, options] of Object.entries<Parameters<typeof boss.createQueue>[1] & object>(queues)) {
    await boss.createQueue(name, options);
    // A queue of an earlier version gets the options of this one. pg-boss changes no policy, which is a matter of the jobs sent from now on.
    const { policy = "standard", ...changeable } = options;
    await boss.updateQueue(name, changeable);
    await boss.getDb().executeSql(`UPDATE ${schema}.queue SET policy = $2 WHERE name = $1`, [name, policy]);
  }
  await boss.schedule("tick", "* * * * *", {}, { singletonKey: "tick" });
  await boss.stop({ graceful: false });
}

/** Starts the queue of a process. Jobs of dead workers are given to others, once the database has answered steadily. */
export async function startQueue(url: string, onTrouble: (error: Error) => void): Promise<Queue> {
  const boss = new PgBoss({ ...settings(url), migrate: false, createSchema: false });
  boss.on("error", (error) => onTrouble(plainError(error)));
  await boss.start();
  const endSupervision = superviseSteadily(boss);
  return {
    async send(tx, name, key, data, after) {
      await boss.send(name, data, {
        singletonKey: key,
        db: fromKysely(tx),
        ...(after === undefined ? {} : { startAfter: Math.ceil(after / 1000) }),
      });
    },
    async complete(tx, name, job) {
      await boss.complete(name, job, null, { db: fromKysely(tx) });
    },
    async work(name, slots, handler) {
      const batchSize = name === "notify" ? notifications : 1;
      const options = { localConcurrency: slots, pollingIntervalSeconds: pollingSeconds, batchSize };
      await boss.work<Queues[typeof name]>(name, options, async (jobs) => {
        const ends = await Promise.allSettled(jobs.map(handler));
        for (const end of ends) if (end.status === "rejected") throw end.reason;
      });
    },
    async workDeadLetters(handler) {
      await boss.work<{ run?: string }>(deadLetters, { pollingIntervalSeconds: 10 }, async (jobs) => {
        for (const { data } of jobs) await handler(data);
      });
    },
    async backlog() {
      const { rows } = await boss.getDb().executeSql(
        `SELECT name, count(*)::int AS ready, greatest(0, extract(epoch FROM now() - min(start_after)))::float8 AS oldest
        FROM ${schema}.job WHERE state < 'active' AND start_after <= now() GROUP BY name ORDER BY name`,
      );
      return rows;
    },
    async stop(ms) {
      endSupervision();
      await boss.stop({ graceful: true, timeout: ms });
    },
  };
}

/** The error of a worker, which pg-boss reports as a plain copy with the worker's id in its words. */
function plainError(error: object): Error {
  const [message, code]: readonly unknown[] = [Reflect.get(error, "message"), Reflect.get(error, "code")];
  const [words] = String(message).split(" (Queue: ");
  return Object.assign(new Error(words), { code });
}

function settings(url: string): ConstructorOptions {
  const connection = { ...poolSettings(url), schema, application_name: "graphform queue" };
  // One process in so many seconds looks for jobs of dead workers; pg-boss has a minute, after which a run would wait longer than for its lease.
  return { ...connection, supervise: false, monitorIntervalSeconds: 10 };
}

/**
 * Looks for jobs of dead workers; after an answer that failed or was late, only after more than one heartbeat of steady ones. Heartbeats come
 * each 15 s: a pause of `late` ms misses none, and a busy machine does not put the look off for ever.
 */
function superviseSteadily(boss: PgBoss): () => void {
  const interval = pollingSeconds * 1000;
  const late = interval * 3;
  let steadySince = performance.now();
  let isBusy = false;
  const look = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    const begun = performance.now();
    try {
      await boss.getDb().executeSql("SELECT 1");
      if (performance.now() - begun > late) steadySince = performance.now();
      else if (begun - steadySince > heartbeatSeconds * 1200) await boss.supervise();
    } catch {
      steadySince = performance.now();
    } finally {
      isBusy = false;
    }
  };
  let last = performance.now();
  const timer = setInterval(() => {
    // A process that stood still does not know how long the others did.
    if (performance.now() - last > late) steadySince = performance.now();
    last = performance.now();
    void look();
  }, interval);
  timer.unref();
  return () => clearInterval(timer);
}
