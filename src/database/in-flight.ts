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
  let weight = 0;
  let freed = Promise.withResolvers<void>();
  let failure: { readonly error: unknown } | undefined;
  // Workers wait for it in their order: a heavy job is not overtaken for ever.
  const admitted = (async function* () {
    try {
      for await (const job of jobs) {
        while (weight > 0 && weight + job.weight > limit) await freed.promise;
        if (failure !== undefined) return;
        weight += job.weight;
        yield job;
      }
    } catch (error) {
      failure ??= { error };
    }
  })();
  const work = async (worker: Worker): Promise<void> => {
    for await (const job of admitted)
      try {
        await job.run(worker);
      } catch (error) {
        failure ??= { error };
      } finally {
        weight -= job.weight;
        freed.resolve();
        freed = Promise.withResolvers();
      }
  };
  await Promise.all(workers.map(work));
  if (failure !== undefined) throw failure.error;
}
