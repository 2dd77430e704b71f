/** @module Runs jobs of different weights, several at once, within a limit of their weight together. */

export interface Job<Worker> {
  /** In any unit; a job that weighs more than the limit runs alone. */
  readonly weight: number;
  run(worker: Worker): Promise<void>;
}

/**
 * Takes jobs from the source as workers become free, and resolves when all are done. Rejects with the first failure, once no job runs any
 * more; no further job is started then.
 */
export async function runWithin<Worker>(
  jobs: AsyncIterable<Job<Worker>>,
  workers: readonly Worker[],
  limit: number,
): Promise<void> {
  const source = jobs[Symbol.asyncIterator]();
  const waiting: (() => void)[] = [];
  let weight = 0;
  let failure: { readonly error: unknown } | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  // One worker at a time takes a job and waits for its room: a heavy job is not overtaken for ever.
  const take = async (): Promise<Job<Worker> | undefined> => {
    if (failure !== undefined) return undefined;
    const { done, value } = await source.next();
    if (done === true) return undefined;
    while (weight > 0 && weight + value.weight > limit)
      await new Promise<void>((resolve) => waiting.push(resolve));
    weight += value.weight;
    return value;
  };
  const work = async (worker: Worker): Promise<void> => {
    for (;;) {
      const next = turn.then(take);
      turn = next.catch(() => undefined);
      const job = await next;
      if (job === undefined) return;
      try {
        await job.run(worker);
      } finally {
        weight -= job.weight;
        for (const resolve of waiting.splice(0)) resolve();
      }
    }
  };
  await Promise.all(
    workers.map((worker) =>
      work(worker).catch((error: unknown) => {
        failure ??= { error };
      }),
    ),
  );
  await source.return?.();
  if (failure !== undefined) throw failure.error;
}
