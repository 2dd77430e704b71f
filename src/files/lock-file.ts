/** @module Creates and removes lock files without ever removing the lock of another holder. */
import { createHash } from "node:crypto";
import { appendFile, type FileHandle, link, open, readdir, rm, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ifThere, isFileError } from "./file-trouble.ts";

/** The rules of one kind of lock. Ids of records are file names, and never used twice. */
export interface LockRules<Lock extends { readonly id: string }> {
  /**
   * The record in the text of a lock file. Every text has one: `seen` is an id for a text without. `touched` is the time of
   * the last write by the clock of the disk, in ms since 1970.
   */
  readonly parse: (text: string, seen: string, touched: number) => Lock;
  /** True if the holder surely runs no more. */
  readonly isGone: (record: Lock) => boolean;
}

/** The end of an attempt to take a lock. `free`: no running process holds it, or not for long; try again. */
export type LockAttempt =
  | { readonly is: "ours"; readonly handle: FileHandle }
  | { readonly is: "free" | "held" };

/** The lock files of one kind. All functions reject with the file system's error. */
export interface LockFiles<Lock extends { readonly id: string }> {
  /** The record of a lock file; undefined if there is none. */
  read(file: string): Promise<Lock | undefined>;
  /**
   * Puts a lock file there, whole from its first moment, unless there is one. Resolves with a handle of it: what is written
   * through it reaches this file alone, whatever stands at the path later.
   */
  place(file: string, record: Lock): Promise<FileHandle | undefined>;
  /** Tries once to take a lock; removes that of a holder who is gone. The first one to take it clears away what killed processes left. */
  take(file: string, record: Lock): Promise<LockAttempt>;
  /**
   * Removes the lock file, if it still is the one of this id. True if this call removed it.
   *
   * A lock is removed only by the holder of the claim on it, a lock file of its own named after the lock's id, who has seen
   * that id under the claim. No other process can remove it between that look and the removal, and none can put another in
   * its place without removing it: so what is removed is what was looked at. The claim of a process that died is removed in
   * the same way. A lock that is not one's own gets a last line that says who took it, for a holder that turns out to live.
   */
  remove(file: string, id: string, claimant: Lock, isOwn?: boolean): Promise<boolean>;
  /** The process that took a lock away, from its line in the lock's file, also if that has no name any more. */
  taker(handle: FileHandle): Promise<Lock | undefined>;
}

export function lockFiles<Lock extends { readonly id: string }>({
  parse,
  isGone,
}: LockRules<Lock>): LockFiles<Lock> {
  const read = async (file: string): Promise<Lock | undefined> => {
    const handle = await ifThere(open(file, "r"));
    if (handle === undefined) return undefined;
    try {
      const { ino, mtimeMs } = await handle.stat();
      const text = await handle.readFile("utf8");
      const seen = createHash("sha256").update(`${ino} ${mtimeMs} ${text}`).digest("hex").slice(0, 16);
      return parse(text, seen, mtimeMs);
    } finally {
      await handle.close();
    }
  };
  const remove = async (file: string, id: string, claimant: Lock, isOwn = false): Promise<boolean> => {
    const claim = `${file}.${id}`;
    const handle = await placeLock(claim, claimant);
    if (handle === undefined) {
      const other = await read(claim);
      if (other !== undefined && isGone(other)) await remove(claim, other.id, claimant, true);
      return false;
    }
    try {
      if ((await read(file))?.id !== id) return false;
      // The holder reads it through its handle; it never reaches a lock that takes its place.
      if (!isOwn) await appendFile(file, recordText(claimant)).catch(() => undefined);
      await unlink(file);
      return true;
    } finally {
      await handle.close();
      await rm(claim, { force: true });
    }
  };
  const sweep = async (file: string): Promise<void> => {
    for (const entry of await readdir(dirname(file))) {
      if (!entry.startsWith(`${basename(file)}.`)) continue;
      const path = join(dirname(file), entry);
      const left = await read(path);
      if (left !== undefined && isGone(left)) await rm(path, { force: true });
    }
  };
  return {
    read,
    place: placeLock,
    remove,
    async taker(handle) {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0);
      const [, line = ""] = buffer.toString("utf8", 0, bytesRead).split("\n");
      return line === "" ? undefined : parse(line, "", 0);
    },
    async take(file, record) {
      const holder = await read(file);
      if (holder !== undefined && !isGone(holder)) return { is: "held" };
      if (holder !== undefined) await remove(file, holder.id, record);
      const handle = holder === undefined ? await placeLock(file, record) : undefined;
      if (handle === undefined) return { is: "free" };
      await sweep(file).catch(() => undefined);
      return { is: "ours", handle };
    },
  };
}

export function recordText(record: object): string {
  return `${JSON.stringify(record)}\n`;
}

async function placeLock(file: string, record: { readonly id: string }): Promise<FileHandle | undefined> {
  const draft = `${file}.${record.id}.tmp`;
  const handle = await open(draft, "wx+", 0o600);
  try {
    await handle.writeFile(recordText(record), "utf8");
    await link(draft, file);
    return handle;
  } catch (error) {
    await handle.close();
    if (isFileError(error, "EEXIST")) return undefined;
    if (isFileError(error, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"))
      return placeWithoutLinks(file, record);
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** For file systems without hard links: exclusive, but the file is empty for a moment. */
async function placeWithoutLinks(file: string, record: object): Promise<FileHandle | undefined> {
  try {
    const handle = await open(file, "wx+", 0o600);
    await handle.writeFile(recordText(record), "utf8");
    return handle;
  } catch (error) {
    if (isFileError(error, "EEXIST")) return undefined;
    throw error;
  }
}

/** True while the handle's file is the one that stands at the path. */
export async function isStill(file: string, handle: FileHandle): Promise<boolean> {
  const there = await ifThere(stat(file, { bigint: true }));
  const ours = await handle.stat({ bigint: true });
  return there?.ino === ours.ino && there.dev === ours.dev;
}
