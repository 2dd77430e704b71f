/** @module Locks a data folder, so that only one platform process works on it. */
import { link, readdir, readFile, rename, rm, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isFileError } from "../files/file-trouble.ts";
import { isRunning, type PinnedProcess, pinned, thisProcess } from "../files/process-identity.ts";
import { isObject, type Json } from "../model/json.ts";

/** Thrown where another platform already runs on the data folder; `pid` is its process. */
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

/** The lock of a data folder, held until `release`. */
export interface FolderLock {
  /** Aborted when the folder was removed or replaced, or another platform has locked it. Nothing may be written to the folder then. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Interval between checks of the lock, in ms. */
const lookEvery = 1000;

/** The holder of a lock: a process of this machine and boot, and the folder that it locked. */
interface Holder extends PinnedProcess {
  readonly machine: string;
  /** Device and inode of the folder: a copied folder has another identity, although it contains the same lock file. */
  readonly folder: string;
}

/**
 * Locks a data folder by `<dataDir>/platform.lock`, which names its holder. Takes over the lock of a process that has ended, and a
 * lock that was copied with its folder. Throws PlatformRunningError where the holder still runs.
 */
export async function lockFolder(dataDir: string): Promise<FolderLock> {
  const path = join(dataDir, "platform.lock");
  const { pid, started, machine } = thisProcess();
  const mine: Holder = { pid, started, machine, folder: await identityOf(dataDir) };
  const own = `${path}.${process.pid}`;
  try {
    await writeFile(own, JSON.stringify(mine), { mode: 0o600 });
    for (let attempt = 0; attempt < 20; attempt += 1) {
      if (await tryLink(own, path)) {
        await removeLeftOver(dataDir);
        return heldLock(dataDir, path, mine);
      }
      const holder = await holderOf(path);
      if (holder !== undefined && isAlive(holder, mine.folder))
        throw new PlatformRunningError(dataDir, holder.pid);
      await moveAside(path, `${own}.dead`, mine.folder);
    }
  } finally {
    await rm(own, { force: true });
  }
  throw new Error(`cannot take the lock ${path}; remove it if no platform runs`);
}

function heldLock(dataDir: string, path: string, mine: Holder): FolderLock {
  const lost = new AbortController();
  let isReleased = false;
  let looking: Promise<void> = Promise.resolve();
  const isMine = (holder: Holder | undefined): boolean => JSON.stringify(holder) === JSON.stringify(mine);
  const look = async (): Promise<void> => {
    const folder = await identityOf(dataDir).catch((error: unknown) =>
      isFileError(error, "ENOENT") ? "none" : mine.folder,
    );
    const holder = await holderOf(path);
    // A lock file that was removed by hand is written again; a lock file with another content belongs to another platform.
    if (isReleased) return;
    if (folder === mine.folder && holder === undefined) await putBack(path, mine);
    else if (folder !== mine.folder || !isMine(holder))
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
      if (!lost.signal.aborted && isMine(await holderOf(path))) await unlink(path).catch(() => undefined);
    },
  };
}

/**
 * The process of the platform that runs or starts on exactly this folder; undefined where there is none. The process is identified
 * by pid, start time and folder.
 */
export async function platformOn(dataDir: string): Promise<PinnedProcess | undefined> {
  const holder = await holderOf(join(dataDir, "platform.lock"));
  if (holder === undefined) return undefined;
  const folder = await identityOf(dataDir).catch(() => undefined);
  return folder !== undefined && isAlive(holder, folder) ? holder : undefined;
}

async function putBack(path: string, mine: Holder): Promise<void> {
  const own = `${path}.${process.pid}`;
  try {
    await writeFile(own, JSON.stringify(mine), { mode: 0o600 });
    await tryLink(own, path);
  } finally {
    await rm(own, { force: true });
  }
}

/** Removes files of processes that were killed while they took the lock. */
async function removeLeftOver(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const [, pid] = /^platform\.lock\.(\d+)(?:\.dead)?$/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(pinned(Number(pid)))) await rm(join(dataDir, name), { force: true });
  }
}

function isAlive(holder: Holder, folder: string): boolean {
  return holder.machine === thisProcess().machine && holder.folder === folder && isRunning(holder);
}

async function identityOf(dataDir: string): Promise<string> {
  const { dev, ino } = await stat(dataDir, { bigint: true });
  return `${dev}:${ino}`;
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (isFileError(error, "EEXIST")) return false;
    throw error;
  }
}

/** Moves the lock of an ended process aside; moves it back where a running process has taken the lock in the meantime. */
async function moveAside(path: string, aside: string, folder: string): Promise<void> {
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const holder = await holderOf(aside);
  if (holder !== undefined && isAlive(holder, folder)) await tryLink(aside, path);
  await unlink(aside);
}

async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const value: Json = JSON.parse(await readFile(path, "utf8"));
    if (!isObject(value)) return undefined;
    const { pid, started, machine, folder } = value;
    const isWhole = typeof started === "string" && typeof machine === "string" && typeof folder === "string";
    return typeof pid === "number" && isWhole ? { pid, started, machine, folder } : undefined;
  } catch {
    return undefined;
  }
}
