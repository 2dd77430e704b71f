import { readFileSync } from "node:fs";
import { link, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
  release(): Promise<void>;
}

interface Holder {
  readonly pid: number;
  /** When the process started, as the system tells it; tells a process from a later one with the same id. */
  readonly started: string;
}

/**
 * Takes the lock of a data folder: `<dataDir>/platform.lock` with the holder's pid and start time.
 * The lock of a dead holder is taken over; throws PlatformRunningError when the holder lives.
 */
export async function lockFolder(dataDir: string): Promise<FolderLock> {
  const path = join(dataDir, "platform.lock");
  const mine: Holder = { pid: process.pid, started: startOf(process.pid) ?? "" };
  const own = `${path}.${process.pid}`;
  await writeFile(own, JSON.stringify(mine), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      if (await tryLink(own, path)) return { release: () => unlink(path).catch(() => undefined) };
      const holder = await holderOf(path);
      if (holder !== undefined && isAlive(holder)) throw new PlatformRunningError(dataDir, holder.pid);
      await takeAway(path, `${own}.dead`);
    }
  } finally {
    await unlink(own);
  }
  throw new Error(`cannot take the lock ${path}; remove it if no platform runs`);
}

/** True while the process lives and is the one that took the lock. */
function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  const started = startOf(holder.pid);
  return started === undefined || holder.started === "" || started === holder.started;
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** Moves a dead holder's lock aside; puts it back when a live holder took its place in the meantime. */
async function takeAway(path: string, aside: string): Promise<void> {
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const holder = await holderOf(aside);
  if (holder !== undefined && isAlive(holder)) await tryLink(aside, path);
  await unlink(aside);
}

async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const value: Json = JSON.parse(await readFile(path, "utf8"));
    if (!isObject(value)) return undefined;
    const { pid, started } = value;
    return typeof pid === "number" && typeof started === "string" ? { pid, started } : undefined;
  } catch {
    return undefined;
  }
}

/** Boot and start time of a process; "dead" for one that has ended but is still listed; undefined if untold. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return "dead";
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}:${fields[19] ?? ""}`;
  } catch {
    return undefined;
  }
}
