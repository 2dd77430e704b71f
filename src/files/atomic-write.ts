/** @module Replaces files atomically and durably. */
import { randomBytes } from "node:crypto";
import { copyFile, link, mkdir, open, rename, rm, stat, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ifThere, isFileError } from "./file-trouble.ts";

/** Ending of the temporary files of `writeAtomically`: a crash may leave one behind. */
export const temporaryEnding: RegExp = /\.[0-9a-f]{16}\.tmp$/;

/**
 * Replaces a file by a text, mode 0600 or `mode`: the new text is complete and durable, or the old file is untouched and this
 * rejects with the file system's error. Makes missing folders (0700). `backup` names a file for the previous text.
 */
export async function writeAtomically(
  file: string,
  text: string,
  backup?: string,
  mode = 0o600,
): Promise<void> {
  const temporary = `${file}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    await writeDurably(temporary, text, mode);
    if (backup !== undefined) await keep(file, backup);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(file));
}

async function writeDurably(file: string, text: string, mode: number): Promise<void> {
  const handle = await openNew(file);
  try {
    await handle.writeFile(text, "utf8");
    // The mask of the process takes nothing away from permissions that are copied.
    if (mode !== 0o600) await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function openNew(file: string): ReturnType<typeof open> {
  try {
    return await open(file, "wx", 0o600);
  } catch (error) {
    if (!isFileError(error, "ENOENT")) throw error;
    await makeFolder(dirname(file));
    return open(file, "wx", 0o600);
  }
}

/** Gives the old version a second name, and then the backup's; if there are no hard links it is copied. */
async function keep(file: string, backup: string): Promise<void> {
  const second = `${backup}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    await link(file, second).catch((error: unknown) => {
      if (isFileError(error, "ENOENT")) throw error;
      return copyFile(file, second);
    });
    await rename(second, backup);
  } catch (error) {
    await rm(second, { force: true }).catch(() => undefined);
    if (!isFileError(error, "ENOENT")) throw error;
  }
}

/** Makes the folder's new entry durable; file systems that cannot sync a folder do it by themselves. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } catch (error) {
    if (!isFileError(error, "EINVAL", "EPERM", "ENOTSUP", "EISDIR", "EACCES")) throw error;
  } finally {
    await handle.close();
  }
}

/** Removes a file durably; it is no error if there is none. */
export async function removeDurably(file: string): Promise<void> {
  await ifThere(unlink(file));
  await syncFolder(dirname(file));
}

/** Uses mode 0700. Git ignores all of a new `.graphform`: it holds keys. Node's recursive `mkdir` never ends below `/proc`. */
export async function makeFolder(folder: string, isLast = false): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (isFileError(error, "EEXIST") && (await stat(folder)).isDirectory()) return;
    if (!isFileError(error, "ENOENT") || isLast || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    return makeFolder(folder, true);
  }
  if (basename(folder) === ".graphform") await writeFile(join(folder, ".gitignore"), "*\n");
}
