/** @module Creates and removes lock files without ever removing the lock of another holder. */
import { appendFile, type FileHandle, link, open, readdir, rm, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { temporaryEnding } from "../files/atomic-write.ts";
import { isFileError } from "../files/file-trouble.ts";
import { formatRecord, isGone, type LockRecord, readRecord } from "./lock-record.ts";

/**
 * Puts a lock file there, whole from its first moment, unless one is there already. Resolves with a handle of it: what
 * is written through it reaches this file alone, whatever stands at the path later.
 */
export async function placeLock(file: string, record: LockRecord): Promise<FileHandle | undefined> {
  const draft = `${file}.${record.id}.tmp`;
  const handle = await open(draft, "wx+", 0o600);
  try {
    await handle.writeFile(formatRecord(record), "utf8");
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

/** For file systems without hard links: exclusive, but for a moment the file is empty. */
async function placeWithoutLinks(file: string, record: LockRecord): Promise<FileHandle | undefined> {
  try {
    const handle = await open(file, "wx+", 0o600);
    await handle.writeFile(formatRecord(record), "utf8");
    return handle;
  } catch (error) {
    if (isFileError(error, "EEXIST")) return undefined;
    throw error;
  }
}

/**
 * Removes the lock file, if it still is the one of this id. True where it was removed by this call.
 *
 * A lock is removed only by the holder of the claim on it, a lock file of its own named after the lock's id, who
 * has seen that id under the claim. Nobody else can remove it between that look and the removal, and nobody can put
 * another in its place without removing it: so what is removed is what was looked at. Ids are never used twice. The
 * claim of a process that died is removed in the same way. A lock that is not one's own gets a last line that says who
 * took it, for a holder that turns out to live.
 */
export async function removeLock(
  file: string,
  id: string,
  claimant: LockRecord,
  now: () => number,
  isOwn = false,
): Promise<boolean> {
  const claim = `${file}.${id}`;
  const handle = await placeLock(claim, claimant);
  if (handle === undefined) {
    const other = await readRecord(claim);
    if (other !== undefined && isGone(other, now())) await removeLock(claim, other.id, claimant, now, true);
    return false;
  }
  try {
    if ((await readRecord(file))?.id !== id) return false;
    // The holder reads it through its handle; it never reaches a lock that takes its place.
    if (!isOwn) await appendFile(file, formatRecord(claimant)).catch(() => undefined);
    await unlink(file);
    return true;
  } finally {
    await handle.close();
    await rm(claim, { force: true });
  }
}

/** True while the handle's file is the one that stands at the path. */
export async function isStill(file: string, handle: FileHandle): Promise<boolean> {
  try {
    const [there, ours] = await Promise.all([stat(file, { bigint: true }), handle.stat({ bigint: true })]);
    return there.ino === ours.ino && there.dev === ours.dev;
  } catch (error) {
    if (isFileError(error, "ENOENT")) return false;
    throw error;
  }
}

/** Clears away what killed processes left beside the lock and its state. Only for who holds the lock. */
export async function sweep(file: string, now: number): Promise<void> {
  const folder = dirname(file);
  const lock = basename(file);
  for (const entry of await readdir(folder)) {
    const path = join(folder, entry);
    if (isDraftOf(entry, basename(lock, ".lock"))) await rm(path, { force: true });
    if (!entry.startsWith(`${lock}.`)) continue;
    const left = await readRecord(path);
    if (left !== undefined && isGone(left, now)) await rm(path, { force: true });
  }
}

function isDraftOf(entry: string, state: string): boolean {
  const drafted = entry.replace(temporaryEnding, "");
  return drafted !== entry && [state, `${state}.backup`, `${state}.log`].includes(drafted);
}
