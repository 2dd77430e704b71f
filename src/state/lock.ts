/** @module Takes, waits for and breaks the lock of a state. */
import { dirname } from "node:path";
import { makeFolder } from "../files/atomic-write.ts";
import { fileTrouble } from "../files/file-trouble.ts";
import type { Clock } from "../model/clock.ts";
import { exitCodes, GraphformError, isGraphformError, shellWord } from "../model/errors.ts";
import type { Hide } from "../model/known-secrets.ts";
import { holdLock } from "./held-lock.ts";
import { placeLock, removeLock, sweep } from "./lock-file.ts";
import {
  isAlive,
  isGone,
  type LockRecord,
  newRecord,
  nobody,
  readRecord,
  shownHolder,
} from "./lock-record.ts";
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

function alive({ id, who, pid, operation, heartbeat }: LockRecord): GraphformError {
  return new GraphformError(
    "lock-alive",
    `the lock ${id} is not removed: ${who} (process ${pid}) is at work on ${operation} and was last seen at ${heartbeat}`,
    {
      hint: `wait for it, or end that process; graphform state unlock ${shellWord(id)} --force takes the lock from it all the same`,
    },
  );
}

function unknownLock(file: string, id: string, found: LockRecord | undefined): GraphformError {
  const now =
    found === undefined
      ? "it is not locked"
      : `it is locked as ${found.id} by ${found.who} for ${found.operation}`;
  return new GraphformError("lock-unknown", `there is no lock ${id} at ${file}: ${now}`, {
    ...(found === undefined
      ? {}
      : { hint: `if that process is surely gone, run: graphform state unlock ${shellWord(found.id)}` }),
  });
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
