import type { Lock } from "../state/store.ts";

/**
 * Does work under a lock and releases it. Rejects with `lock-lost` where somebody took the lock away meanwhile, whatever the
 * work came to.
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
