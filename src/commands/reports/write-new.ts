/** @module Creates files without overwriting any: all of them, each whole, or none. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, copyFile, link, lstat, mkdir, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileTrouble, ifThere, isFileError } from "../../files/file-trouble.ts";
import { GraphformError } from "../../model/errors.ts";

type Undo = () => Promise<void>;

/** Writes new files, each whole; a failure removes files and folders. Throws `file-exists`, `file-unwritable`. */
export async function writeAllNew(
  files: readonly { readonly path: string; readonly text: string }[],
): Promise<void> {
  for (const { path } of files) await assertWritable(path);
  const undo: Undo[] = [];
  try {
    for (const { path, text } of files) await inWords(path, () => create(path, text, undo));
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => undefined);
    throw error;
  }
}

async function create(path: string, text: string, undo: Undo[]): Promise<void> {
  const folder = dirname(path);
  const first = await mkdir(folder, { recursive: true });
  if (first !== undefined) undo.push(() => removeFolders(folder, dirname(first)));
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, text, { flag: "wx" });
    await link(temporary, path).catch((error: unknown) => {
      if (isFileError(error, "EEXIST")) throw error;
      // A file system without hard links.
      return copyFile(temporary, path, constants.COPYFILE_EXCL);
    });
  } finally {
    await rm(temporary, { force: true });
  }
  undo.push(() => rm(path, { force: true }));
}

/** Removes empty folders from `folder` up to `above`, which stays. */
async function removeFolders(folder: string, above: string): Promise<void> {
  for (let at = folder; at !== above && at !== dirname(at); at = dirname(at)) await rmdir(at);
}

/** Throws if a file is there, or if the nearest folder that exists takes none. */
async function assertWritable(path: string): Promise<void> {
  await inWords(path, async () => {
    const found = await ifThere(lstat(path));
    if (found !== undefined) throw exists(path);
    let folder = dirname(path);
    while (!(await isThere(folder))) folder = dirname(folder);
    await access(folder, constants.W_OK | constants.X_OK);
  });
}

async function isThere(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch (error) {
    if (isFileError(error, "ENOENT") && dirname(folder) !== folder) return false;
    throw error;
  }
}

async function inWords(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof GraphformError) throw cause;
    if (isFileError(cause, "EEXIST")) throw exists(path);
    throw new GraphformError("file-unwritable", `cannot write ${path}: ${fileTrouble(cause)}`, { cause });
  }
}

function exists(path: string): GraphformError {
  return new GraphformError("file-exists", `${path} exists already and is not overwritten`, {
    hint: "name another file, or move this one away",
  });
}
