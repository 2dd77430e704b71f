import { link, readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isFileError } from "../files/file-trouble.ts";
import { isRunning, type PinnedProcess, thisProcess } from "../files/process-identity.ts";
import { isObject, type Json } from "../model/json.ts";

/** Another platform runs on the same data folder. */
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

/** A data folder that is ours until released. */
export interface FolderLock {
  /** Aborted when the folder is found to be gone, to be another one, or to belong to another platform: nothing may be written to it then. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** How often the lock is looked at, in ms. */
const lookEvery = 1000;

/** A platform: a process of this machine and boot, and the one folder that it works on. */
interface Holder extends PinnedProcess {
  readonly machine: string;
  /** Device and number of the folder: a copy of it is another folder, whatever lies in it. */
  readonly folder: string;
}

/**
 * Takes the lock of a data folder: `<dataDir>/platform.lock` with the identity of its holder. The lock of a holder that runs no
 * longer, or that works on another folder, of which this one is a copy, is taken over; throws PlatformRunningError
 * otherwise.
 */
export async function lockFolder(dataDir: string): Promise<FolderLock> {
  const path = join(dataDir, "platform.lock");
  const { pid, started, machine } = thisProcess();
  const mine: Holder = { pid, started, machine, folder: await identityOf(dataDir) };
  const own = `${path}.${process.pid}`;
  await writeFile(own, JSON.stringify(mine), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      if (await tryLink(own, path)) return heldLock(dataDir, path, mine);
      const holder = await holderOf(path);
      if (holder !== undefined && isAlive(holder, mine.folder))
        throw new PlatformRunningError(dataDir, holder.pid);
      await moveAside(path, `${own}.dead`, mine.folder);
    }
  } finally {
    await unlink(own);
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
    // A lock that somebody removed by hand is put back; one that says something else is another platform's.
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
      // It may be another platform's by now, and nobody has looked since.
      if (!lost.signal.aborted && isMine(await holderOf(path))) await unlink(path).catch(() => undefined);
    },
  };
}

/**
 * The process of the platform that works on exactly this folder, also while it is starting; undefined where none does. It is known by its
 * pid, the time it started at and the folder, all as it wrote them down itself.
 */
export async function platformOn(dataDir: string): Promise<PinnedProcess | undefined> {
  const holder = await holderOf(join(dataDir, "platform.lock"));
  if (holder === undefined) return undefined;
  const folder = await identityOf(dataDir).catch(() => undefined);
  return folder !== undefined && isAlive(holder, folder) ? holder : undefined;
}

async function putBack(path: string, mine: Holder): Promise<void> {
  const own = `${path}.${process.pid}`;
  await writeFile(own, JSON.stringify(mine), { mode: 0o600 });
  await tryLink(own, path);
  await unlink(own);
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

/** Moves a dead holder's lock aside; puts it back when a live holder took its place in the meantime. */
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
