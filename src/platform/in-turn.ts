/** @module Runs tasks of the same key one after another. */
const last = new Map<string, Promise<unknown>>();

/** Resolves or rejects as `work` does. Tasks of one key run in the order of the calls; a failed task does not stop the next one. */
export function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const task = (last.get(key) ?? Promise.resolve()).then(work, work);
  last.set(key, task);
  return task.finally(() => {
    if (last.get(key) === task) last.delete(key);
  });
}
