/** @module Takes, waits for and breaks the lock of a state in a file, keeps it alive, and notices when another process has taken it. */

import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "../files/atomic-write.ts";
import { fileTrouble } from "../files/file-trouble.ts";
import type { Clock } from "../model/clock.ts";
import { exitCodes, GraphformError, isGraphformError, shellWord } from "../model/errors.ts";
import type { Hide } from "../model/known-secrets.ts";
import { isStill, placeLock, removeLock, sweep } from "./lock-file.ts";
import {
  formatRecord,
  isAlive,
  isGone,
  type LockRecord,
  newRecord,
  nobody,
  readRecord,
  renewed,
  shownHolder,
  takerIn,
} from "./lock-record.ts";
import { alive, takenAway, unknownLock } from "./remote/remote-trouble.ts";
import type { Holder, Lock, LockOptions } from "./store.ts";

/** Time after the last heartbeat at which other machines take a lock over, in ms. */
const defaultLease = 60_000;

/** Tries for a free lock while other processes try for it too. */
const contentionTries = 500;

/**
 * Takes the lock of a file, or throws `locked` (exit 5) once the time to wait is over. A holder that died on this
 * machine is taken over at once, one that runs never; one on another machine once its lease has run out.
 */
export async function acquireLock(file: string, operation: string, options: LockOptions): Promise<Lock> {
  const { clock, timeout = 0, signal, lease = defaultLease, hide } = options;
  const deadline = clock.now() + timeout;
  await troubled(file, () => makeFolder(dirname(file)));
  for (let pause = 100, contended = 0; ; ) {
    signal?.throwIfAborted();
    const got = await troubled(file, () => tryLock(file, operation, clock, lease, hide));
    if (got.is === "ours") return got.lock;
    if (got.is === "free" && contended < contentionTries) {
      contended += 1;
      await clock.sleep(1 + 4 * clock.random(), signal);
      continue;
    }
    const left = deadline - clock.now();
    if (left <= 0) throw locked(file, await troubled(file, () => readShown(file, hide)), clock.now());
    await clock.sleep(Math.min(left, pause * (0.8 + 0.4 * clock.random())), signal);
    pause = Math.min(1000, pause * 2);
  }
}

/** The holder of the lock of a file; undefined where nobody holds it. */
export async function readHolder(file: string, hide?: Hide): Promise<Holder | undefined> {
  const record = await troubled(file, () => readShown(file, hide));
  return record && publicPart(record);
}

/**
 * Removes the lock of this id and returns its holder; the lock file keeps a line that names the taker. Throws `lock-unknown`, and
 * `lock-alive` where the holder is seen to live and it is not forced: it would go on writing while another one begins.
 */
export async function breakLock(file: string, id: string, force = false, hide?: Hide): Promise<Holder> {
  return troubled(file, async () => {
    for (let attempt = 0; attempt < contentionTries; attempt += 1) {
      const record = await readShown(file, hide);
      if (record?.id !== id) throw unknownLock(file, id, record);
      if (!force && isAlive(record, Date.now())) throw alive(record);
      const claimant = newRecord("state unlock", Date.now(), defaultLease);
      if (await removeLock(file, id, claimant, Date.now)) return publicPart(record);
    }
    throw new GraphformError("lock-busy", `another process is removing the lock ${id} right now`, {
      hint: "try again",
    });
  });
}

/** `free`: nobody who runs holds it, or not for long; try again. */
type Attempt = { readonly is: "ours"; readonly lock: Lock } | { readonly is: "free" | "held" };

async function tryLock(
  file: string,
  operation: string,
  clock: Clock,
  lease: number,
  hide: Hide | undefined,
): Promise<Attempt> {
  const holder = await readRecord(file);
  if (holder !== undefined && !isGone(holder, clock.now())) return { is: "held" };
  const record = newRecord(operation, clock.now(), lease);
  if (holder !== undefined) {
    await removeLock(file, holder.id, record, clock.now);
    return { is: "free" };
  }
  const handle = await placeLock(file, record);
  if (handle === undefined) return { is: "free" };
  await sweep(file, clock.now()).catch(() => undefined);
  return { is: "ours", lock: holdLock(file, record, handle, clock, lease, hide) };
}

/** The record of a lock file, with the words of its holder searched for secrets. */
async function readShown(file: string, hide: Hide | undefined): Promise<LockRecord | undefined> {
  const record = await readRecord(file);
  return record === undefined || hide === undefined ? record : shownHolder(record, hide);
}

function publicPart(record: LockRecord): Holder {
  const { id, who, pid, host, operation, created, heartbeat, expires } = record;
  return { id, who, pid, host, operation, created, heartbeat, expires };
}

function locked(file: string, holder: LockRecord | undefined, now: number): GraphformError {
  const message = whoHolds(file, holder);
  const force =
    holder === undefined
      ? ""
      : isAlive(holder, now)
        ? `; it is at work, and graphform state unlock ${shellWord(holder.id)} --force would take the lock from it`
        : `, or, if that process is surely gone, run: graphform state unlock ${shellWord(holder.id)}`;
  return new GraphformError("locked", message, {
    exitCode: exitCodes.locked,
    hint: `wait for it with --lock-timeout 5m${force}`,
  });
}

function whoHolds(file: string, holder: LockRecord | undefined): string {
  if (holder === undefined) return `the lock ${file} is contended`;
  const { who, pid, machine, operation, created } = holder;
  return machine === nobody.machine
    ? `the state is locked: ${file} does not say by whom; it was last written to at ${created}`
    : `the state is locked: ${who} (process ${pid}) has held it for ${operation} since ${created}`;
}

async function troubled<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isGraphformError(error)) throw error;
    throw new GraphformError("lock-trouble", `the lock ${file} cannot be used: ${fileTrouble(error)}`, {
      hint: "allow writing there, or name another file with --state",
      cause: error,
    });
  }
}

/** The part of a lease after which nothing is begun without another look at the lock. */
const safePart = 2 / 3;

/**
 * A lock file of ours, kept alive: four heartbeats a lease, by a timer that keeps no process running. They go through
 * the handle, so they can never reach a lock that took its place.
 */
function holdLock(
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
    } else {
      const taker = takerIn(await wholeText(handle));
      lost.abort(takenAway(file, record, taker && hide ? shownHolder(taker, hide) : taker));
    }
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
