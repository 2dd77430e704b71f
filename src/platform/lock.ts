/** @module Locks a data folder, so that only one platform process works on it. */
import { randomBytes } from "node:crypto";
import { type FileHandle, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isFileError } from "../files/file-trouble.ts";
import { type LockFiles, lockFiles, recordText } from "../files/lock-file.ts";
import { isRunning, type PinnedProcess, thisProcess } from "../files/process-identity.ts";
import { objectIn } from "../model/json.ts";

export class PlatformRunningError extends Error {
  override readonly name = "PlatformRunningError";
  readonly code = "platform-running";
  readonly pid: number;

  constructor(dataDir: string, pid: number) {
    super(
      `a local platform already runs on ${dataDir} (process ${pid}); use it, or stop it with: graphform platform down`,
    );
    this.pid = pid;
  }
}

export interface FolderLock {
  /** Aborted when the folder was removed or replaced, or another platform has locked it. Nothing may be written to the folder then. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

const lookEvery = 1000;

/** The holder of a lock: a process of this machine and boot, and the folder that it locked. */
interface Holder extends PinnedProcess {
  readonly id: string;
  readonly machine: string;
  /** Device and inode of the folder: a copied folder has another identity, although it contains the same lock file. */
  readonly folder: string;
  /** The last write to a lock that names no process, in ms since 1970: one that is being written must not be removed. */
  readonly unreadable?: number;
}

/** A lock of a folder is gone with its process, and in a copy of the folder. */
function locksOf(folder: string): LockFiles<Holder> {
  return lockFiles({ parse, isGone: (holder) => !isAlive(holder, folder) });
}

/**
 * Locks a data folder by `<dataDir>/platform.lock`. Takes over the lock of a process that has ended, and a lock that was copied
 * with its folder. Throws PlatformRunningError if the holder still runs.
 */
export async function lockFolder(dataDir: string): Promise<FolderLock> {
  const path = join(dataDir, "platform.lock");
  const { pid, started, machine } = thisProcess();
  const folder = await identityOf(dataDir);
  const mine: Holder = { id: randomBytes(8).toString("hex"), pid, started, machine, folder };
  const locks = locksOf(folder);
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const taken = await locks.take(path, mine);
    if (taken.is === "ours") return heldLock(dataDir, path, mine, taken.handle);
    const holder = taken.is === "held" ? await runningHolder(path, folder) : undefined;
    if (holder !== undefined) throw new PlatformRunningError(dataDir, holder.pid);
    await sleep(1 + 4 * Math.random());
  }
  throw new Error(`cannot take the lock ${path}; remove it if no platform runs`);
}

function heldLock(dataDir: string, path: string, mine: Holder, placed: FileHandle): FolderLock {
  const locks = locksOf(mine.folder);
  const lost = new AbortController();
  let isReleased = false;
  let looking: Promise<void> = placed.close();
  const isMine = (holder: Holder | undefined): boolean =>
    holder !== undefined && recordText(holder) === recordText(mine);
  const look = async (): Promise<void> => {
    const folder = await identityOf(dataDir).catch((error: unknown) =>
      isFileError(error, "ENOENT") ? "none" : mine.folder,
    );
    const isSame = folder === mine.folder;
    const holder = isSame ? await locks.read(path) : undefined;
    // A lock file that was removed by hand is written again; a lock file with another content belongs to another platform.
    if (isReleased) return;
    if (isSame && holder === undefined) await (await locks.place(path, mine))?.close();
    else if (!isMine(holder))
      lost.abort(new Error(`${dataDir} was removed, or taken over by another platform`));
  };
  const timer = setInterval(() => {
    looking = looking.then(look).catch(() => undefined);
  }, lookEvery);
  timer.unref();
  return {
    lost: lost.signal,
    async release() {
      clearInterval(timer);
      isReleased = true;
      await looking;
      // Another platform may have taken the lock since the last check.
      if (lost.signal.aborted || !isMine(await locks.read(path))) return;
      await locks.remove(path, mine.id, mine, true).catch(() => undefined);
    },
  };
}

/** The process of the platform that runs or starts on exactly this folder, by pid and start time; undefined without one. */
export async function platformOn(dataDir: string): Promise<PinnedProcess | undefined> {
  const folder = await identityOf(dataDir).catch(() => undefined);
  if (folder === undefined) return undefined;
  return runningHolder(join(dataDir, "platform.lock"), folder).catch(() => undefined);
}

/** The holder of a lock, if it is a process that runs; undefined also while the lock is being written. */
async function runningHolder(path: string, folder: string): Promise<Holder | undefined> {
  const holder = await locksOf(folder).read(path);
  if (holder === undefined || holder.unreadable !== undefined) return undefined;
  return isAlive(holder, folder) ? holder : undefined;
}

/** Time after which a lock file that names no process belongs to none, in ms. */
const writingTime = 10_000;

function isAlive(holder: Holder, folder: string): boolean {
  if (holder.unreadable !== undefined) return Date.now() - holder.unreadable < writingTime;
  return holder.machine === thisProcess().machine && holder.folder === folder && isRunning(holder);
}

async function identityOf(dataDir: string): Promise<string> {
  const { dev, ino } = await stat(dataDir, { bigint: true });
  return `${dev}:${ino}`;
}

/** A record without machine or folder is that of no process here. */
function parse(text: string, seen: string, touched: number): Holder {
  const value = objectIn(text.split("\n")[0] ?? "");
  if (typeof value?.["pid"] !== "number")
    return { id: seen, pid: 0, started: "", machine: "", folder: "", unreadable: touched };
  const said = (key: string): string => (typeof value[key] === "string" ? value[key] : "");
  const id = /^[0-9a-f]{16}$/.test(said("id")) ? said("id") : seen;
  return {
    id,
    pid: value["pid"],
    started: said("started"),
    machine: said("machine"),
    folder: said("folder"),
  };
}
