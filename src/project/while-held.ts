/** @module Runs work under a lock and releases the lock. */
import type { Lock } from "../state/store.ts";

/**
 * Returns the result of the work. Rejects with `lock-lost` if another process took the lock meanwhile, even if the work
 * succeeded.
 */
export async function whileHeld<T>(lock: Lock, work: () => Promise<T>): Promise<T> {
  try {
    const done = await work();
    await lock.check();
    lock.lost.throwIfAborted();
    return done;
  } catch (error) {
    await lock.check();
    throw lock.lost.aborted ? lock.lost.reason : error;
  } finally {
    await lock.release();
  }
}
