/** @module Takes, waits for and breaks the lock of a state in a file, keeps it alive, and notices when another process has taken it. */
import { randomBytes } from "node:crypto";
import { type FileHandle, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeFolder, temporaryEnding } from "../files/atomic-write.ts";
import { fileTrouble, isFileError } from "../files/file-trouble.ts";
import { isStill, type LockFiles, lockFiles, recordText } from "../files/lock-file.ts";
import { isRunning, type ProcessIdentity, thisProcess } from "../files/process-identity.ts";
import { exitCodes, GraphformError, isGraphformError, shellWord } from "../model/errors.ts";
import { defined, isObject, objectIn } from "../model/json.ts";
import type { Hide } from "../model/known-secrets.ts";
import { type PollTimes, poll } from "../polling/poll.ts";
import { defaultLease, holdLease, leaseClock, withHeartbeat } from "./held-lease.ts";
import {
  alive,
  holderName,
  holderSince,
  holderWith,
  holderWork,
  redactedHolder,
  unknownLock,
  unlockHint,
} from "./lock-words.ts";
import type { Holder, Lock, LockOptions } from "./store.ts";

export interface LockRecord extends Holder, ProcessIdentity {
  /** Not in the file: its last write by the clock of the disk, in ms since 1970. */
  readonly touched?: number;
}

/** A new lock of this process. Times in ms. */
export function newRecord(operation: string, now: number, lease: number): LockRecord {
  const record = { id: randomBytes(8).toString("hex"), operation, created: new Date(now).toISOString() };
  return withHeartbeat({ ...thisProcess(), ...record, heartbeat: "", expires: "" }, now, lease);
}

/**
 * The lock files of states, with the words of their holders searched for secrets. A file that is no lock of ours reads as held by an
 * unknown holder for a minute after it was last touched.
 */
export function stateLocks(now: () => number, hide: Hide = (text) => text): LockFiles<LockRecord> {
  return lockFiles({
    parse(text, seen, touched) {
      const record: unknown = objectIn(text.split("\n")[0] ?? "");
      const created = new Date(touched).toISOString();
      const times = { created, heartbeat: created, expires: new Date(touched + 60_000).toISOString() };
      const unknown = { ...holderWith({ id: seen, ...times }), machine: unknownMachine, started: "" };
      return redactedHolder(isRecord(record) ? { ...record, touched } : unknown, hide);
    },
    isGone: (record) => isGone(record, now()),
  });
}

const unknownMachine = "unknown";

const texts = ["who", "host", "operation", "created", "heartbeat", "expires", "machine", "started"];

function isRecord(value: unknown): value is LockRecord {
  if (!isObject(value)) return false;
  const { id, pid } = value;
  const isIdentified =
    typeof id === "string" && /^[0-9a-f]{16}$/.test(id) && Number.isInteger(pid) && Number(pid) > 0;
  return isIdentified && texts.every((key) => typeof value[key] === "string");
}

/**
 * True if the holder has surely ended: a process of this machine that does not run, at any age of its heartbeat; on another machine
 * a lease that has run out by the record's own times, and was not renewed for as long by the clock of the disk.
 */
export function isGone(record: LockRecord, now: number): boolean {
  if (record.machine === thisProcess().machine) return !isRunning(record);
  const { touched = 0 } = record;
  const expires = Date.parse(record.expires);
  const lease = expires - Date.parse(record.heartbeat);
  // A file that was touched later than now was touched by another clock than the one that is asked.
  const kept = touched <= now && now <= touched + lease;
  return Number.isNaN(expires) || (now > expires && !kept);
}

/** True if the holder is known and seen to live: a running process of this machine, or a lease that is kept. */
function isAlive(record: LockRecord, now: number): boolean {
  return record.machine !== unknownMachine && !isGone(record, now);
}

/** Pauses in ms: while other processes try for a free lock too, and while one holds it. */
const contended = { first: 2, longest: 5 };
const held = { first: 100, longest: 1000 };

/** Time in ms for which a free lock is tried for. */
const contentionTime = 1500;

/** Looks until there is a result; undefined after `ms`. */
export async function within<T>(
  ms: number,
  pauses: PollTimes["profile"]["timing"]["poll"],
  { clock, signal = new AbortController().signal }: Pick<LockOptions, "clock" | "signal">,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const times = { clock, profile: { timing: { poll: pauses } }, stopping: signal };
  return poll({ look, evaluate: (seen) => seen, deadline: clock.now() + ms }, times);
}

/**
 * Takes the lock of a file, or throws `locked` (exit 5) once the time to wait is over. A dead holder on this machine is taken over at
 * once, a running one never; a holder on another machine once its lease has run out.
 */
export async function acquireLock(file: string, operation: string, options: LockOptions): Promise<Lock> {
  const { clock, timeout = 0, lease = defaultLease, hide } = options;
  const locks = stateLocks(clock.now, hide);
  const attempt = async (): Promise<Lock | "held" | undefined> => {
    const record = newRecord(operation, clock.now(), lease);
    const taken = await locks.take(file, record);
    if (taken.is !== "ours") return taken.is === "held" ? "held" : undefined;
    await removeDrafts(file).catch(() => undefined);
    return holdLock(file, record, taken.handle, locks, { clock, lease });
  };
  await troubled(file, () => makeFolder(dirname(file)));
  const lock = await within(timeout, held, options, async () => {
    const got = await within(contentionTime, contended, options, () => troubled(file, attempt));
    return got === "held" ? undefined : got;
  });
  if (lock !== undefined) return lock;
  throw lockedFile(file, await troubled(file, () => locks.read(file)), clock.now());
}

/** Clears away the drafts of the state's files that killed processes left. Only for the holder of the lock. */
async function removeDrafts(file: string): Promise<void> {
  const state = basename(file, ".lock");
  for (const entry of await readdir(dirname(file))) {
    const drafted = entry.replace(temporaryEnding, "");
    if (drafted !== entry && [state, `${state}.backup`, `${state}.log`].includes(drafted))
      await rm(join(dirname(file), entry), { force: true });
  }
}

export async function readHolder(file: string, hide?: Hide): Promise<Holder | undefined> {
  const record = await troubled(file, () => stateLocks(Date.now, hide).read(file));
  return record && holderOf(record);
}

/**
 * Removes the lock of this id and returns its holder; the lock file keeps a line that names the taker. Throws `lock-unknown`, and,
 * without `force`, `lock-alive` for a living holder: it would go on writing while another one begins.
 */
export async function breakLock(file: string, id: string, force = false, hide?: Hide): Promise<Holder> {
  const locks = stateLocks(Date.now, hide);
  return troubled(file, async () => {
    for (let attempt = 0; attempt < 500; attempt += 1) {
      const record = await locks.read(file);
      if (record?.id !== id) throw unknownLock(file, id, record);
      if (!force && isAlive(record, Date.now())) throw alive(record);
      const claimant = newRecord("state unlock", Date.now(), defaultLease);
      if (await locks.remove(file, id, claimant)) return holderOf(record);
    }
    throw new GraphformError("lock-busy", `another process is removing the lock ${id} right now`, {
      hint: "try again",
    });
  });
}

export function holderOf(record: LockRecord): Holder {
  const { id, who, pid, host, operation, created, heartbeat, expires } = record;
  return { id, who, pid, host, operation, created, heartbeat, expires };
}

function lockedFile(file: string, holder: LockRecord | undefined, now: number): GraphformError {
  const [exitCode, wait] = [exitCodes.locked, "wait for it with --lock-timeout 5m"];
  if (holder === undefined)
    return new GraphformError("locked", `the lock ${file} is contended`, { exitCode, hint: wait });
  const by =
    holder.machine === unknownMachine
      ? `${file} does not say by whom; it was last written to at ${holder.created}`
      : `${holderName(holder)} has held it${holderWork(holder)}${holderSince(holder)}`;
  const force = isAlive(holder, now)
    ? `; it is at work, and graphform state unlock ${shellWord(holder.id)} --force would take the lock from it`
    : `, or, ${unlockHint(holder)}`;
  return new GraphformError("locked", `the state is locked: ${by}`, { exitCode, hint: wait + force });
}

async function troubled<T>(file: string, work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    if (isGraphformError(error)) throw error;
    const way = isFileError(error, "ENOSPC", "EDQUOT") ? "make room there" : "allow writing there";
    throw new GraphformError("lock-trouble", `the lock ${file} cannot be used: ${fileTrouble(error)}`, {
      hint: `${way}, or name another file with --state`,
      cause: error,
    });
  });
}

/**
 * Keeps a lock file of ours alive, through the handle, so that a heartbeat never reaches a lock that took its place. A process of this machine
 * that runs is never taken for gone, so that the lease does not end by itself: a look tells if the lock is still ours.
 */
function holdLock(
  file: string,
  record: LockRecord,
  handle: FileHandle,
  locks: LockFiles<LockRecord>,
  { clock, lease }: Pick<LockOptions, "clock"> & { readonly lease: number },
): Lock {
  const driver: Parameters<typeof holdLease>[0] = {
    where: file,
    expires: false,
    async renew(held, { heartbeat, expires }) {
      if (await isStill(file, handle)) {
        await handle.write(recordText({ ...record, heartbeat, expires }), 0, "utf8");
        return { is: "renewed", lease: held };
      }
      return { is: "lost", ...defined({ to: await locks.taker(handle) }) };
    },
    async release() {
      await within(contentionTime, contended, { clock }, async () => {
        if ((await locks.read(file))?.id !== record.id) return true;
        const claimant = newRecord(record.operation, clock.now(), defaultLease);
        return (await locks.remove(file, record.id, claimant, true)) || undefined;
      });
    },
  };
  const held = holdLease(driver, { holder: record, token: "" }, lease, leaseClock(clock));
  let released: Promise<void> | undefined;
  return {
    id: record.id,
    lost: held.lost,
    check: held.renew,
    look: held.look,
    async finish(): Promise<void> {
      await held.renew();
      held.lost.throwIfAborted();
    },
    release(): Promise<void> {
      released ??= held
        .release()
        .then(() => handle.close())
        .catch(() => undefined);
      return released;
    },
  };
}
