/** @module Keeps a lock alive with heartbeats, and notices when another process has taken it. */
import type { FileHandle } from "node:fs/promises";
import type { Clock } from "../model/clock.ts";
import { GraphformError } from "../model/errors.ts";
import type { Hide } from "../model/known-secrets.ts";
import { isStill, removeLock } from "./lock-file.ts";
import {
  formatRecord,
  type LockRecord,
  newRecord,
  readRecord,
  renewed,
  shownHolder,
  takerIn,
} from "./lock-record.ts";
import type { Lock } from "./store.ts";

/** The part of a lease after which nothing is begun without another look at the lock. */
const safePart = 2 / 3;

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
  hide?: Hide,
): Lock {
  const lost = new AbortController();
  let beating: Promise<void> = Promise.resolve();
  let released: Promise<void> | undefined;
  let seen = clock.now();

  const beat = async (): Promise<void> => {
    const now = clock.now();
    if (await isStill(file, handle)) {
      await handle.write(formatRecord(renewed(record, now, lease)), 0, "utf8");
      seen = now;
    } else lost.abort(lockLost(record, takerIn(await wholeText(handle)), hide));
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
  const check = async (): Promise<void> => {
    beating = beating.then(beat).catch(() => undefined);
    await beating;
  };
  return {
    id: record.id,
    lost: lost.signal,
    check,
    // A process of this machine that runs is never taken for gone, but its lock can be removed by force.
    async look(): Promise<void> {
      if (Math.abs(clock.now() - seen) >= lease * safePart) await check();
    },
    async settle(): Promise<void> {
      await check();
      lost.signal.throwIfAborted();
    },
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
    if (await removeLock(file, record.id, claimant, clock.now, true)) return;
    await clock.sleep(1 + 4 * clock.random());
  }
}

/** A handle's file from its beginning, also where it has no name any more. */
async function wholeText(handle: FileHandle): Promise<string> {
  const { size } = await handle.stat();
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0);
  return buffer.toString("utf8", 0, bytesRead);
}

function lockLost(
  { id, operation }: LockRecord,
  found: LockRecord | undefined,
  hide: Hide | undefined,
): GraphformError {
  const taker = found === undefined || hide === undefined ? found : shownHolder(found, hide);
  const by =
    taker === undefined
      ? ""
      : ` by ${taker.who} (process ${taker.pid}) for ${taker.operation} at ${taker.created}`;
  return new GraphformError(
    "lock-lost",
    `the lock ${id} was taken away${by} while ${operation} was at work`,
    {
      hint: "nothing new was started after that; look at the state, then run the command again",
    },
  );
}
