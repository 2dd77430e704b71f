import type { FileHandle } from "node:fs/promises";
import type { Clock } from "../model/clock.ts";
import { GraphformError } from "../model/errors.ts";
import { isStill, removeLock } from "./lock-file.ts";
import { formatRecord, type LockRecord, newRecord, readRecord, renewed } from "./lock-record.ts";
import type { Lock } from "./store.ts";

/**
 * A lock file of ours, kept alive: four heartbeats a lease, by a timer that keeps no process running. They go through
 * the handle, so they can never reach a lock that took its place.
 */
export function holdLock(
  file: string,
  record: LockRecord,
  handle: FileHandle,
  clock: Clock,
  lease: number,
): Lock {
  const lost = new AbortController();
  let beating: Promise<void> = Promise.resolve();
  let released: Promise<void> | undefined;

  const beat = async (): Promise<void> => {
    if (await isStill(file, handle))
      await handle.write(formatRecord(renewed(record, clock.now(), lease)), 0, "utf8");
    else lost.abort(lockLost(record));
  };
  const timer = setInterval(() => {
    beating = beating.then(beat).catch(() => undefined);
  }, lease / 4);
  timer.unref();

  const release = async (): Promise<void> => {
    clearInterval(timer);
    await beating;
    try {
      await removeOwn(file, record, clock);
    } finally {
      await handle.close();
    }
  };
  return {
    id: record.id,
    lost: lost.signal,
    release(): Promise<void> {
      released ??= release().catch(() => undefined);
      return released;
    },
  };
}

async function removeOwn(file: string, record: LockRecord, clock: Clock): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if ((await readRecord(file))?.id !== record.id) return;
    const claimant = newRecord(record.operation, clock.now(), 60_000);
    if (await removeLock(file, record.id, claimant, clock.now)) return;
    await clock.sleep(1 + 4 * clock.random());
  }
}

function lockLost(record: LockRecord): GraphformError {
  return new GraphformError(
    "lock-lost",
    `the lock ${record.id} was taken away while ${record.operation} was at work`,
    {
      hint: "somebody removed it, or this machine slept past its lease; look at the state, then run the command again",
    },
  );
}
