/** @module Runs work under a lock and releases the lock. */
import type { Lock } from "../state/store.ts";

/**
 * Returns the result of the work. Rejects where the lock was lost or the store went away meanwhile, even if the work
 * succeeded; the error says what became of what could not be stored.
 */
export async function whileHeld<T>(lock: Lock, work: () => Promise<T>): Promise<T> {
  try {
    const [result] = await Promise.allSettled([work()]);
    await lock.settle();
    if (result.status === "rejected") throw result.reason;
    return result.value;
  } finally {
    await lock.release();
  }
}
