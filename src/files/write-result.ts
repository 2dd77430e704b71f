/** @module Writes results to files that a person has named: a file is written, a link followed, a device or a pipe written into. */
import { closeSync, constants, fstatSync, openSync, type Stats } from "node:fs";
import { readFile, readlink, realpath, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { writeAtomically } from "./atomic-write.ts";
import { ifThere, isFileError } from "./file-trouble.ts";

const standardOutput = 1;

/** Ms between two looks for a reader. */
const lookEvery = 100;

export interface Writer {
  /** Called once if a pipe has no reader yet. */
  readonly waiting: () => void;
  readonly print: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Writes a text; with `mode` a regular file is replaced at once. Waits for the reader of a pipe. Rejects as node:fs does. */
export async function writeResult(file: string, text: string, writer: Writer, mode?: number): Promise<void> {
  const found = await ifThere(stat(file));
  if (found !== undefined && isStandardOutput(found)) return writer.print(text);
  if (mode !== undefined && (found === undefined || found.isFile()))
    return writeAtomically(await behindLinks(file), text, undefined, mode);
  const reader = found?.isFIFO() === true ? await openForReader(file, writer) : undefined;
  try {
    await writeFile(file, text);
  } catch (error) {
    // A file that this call has begun is not left behind cut short.
    if (found === undefined) await rm(file, { force: true }).catch(() => undefined);
    throw error;
  } finally {
    if (reader !== undefined) closeSync(reader);
  }
}

/** Waits until a pipe has a reader, and keeps it open; undefined for others. To open it as usual would block the process. */
export async function openForReader(
  file: string,
  { waiting, signal }: Pick<Writer, "waiting" | "signal">,
): Promise<number | undefined> {
  for (let isFirst = true; (await ifThere(stat(file)))?.isFIFO() === true; isFirst = false) {
    try {
      return openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (!isFileError(error, "ENXIO")) throw error;
    }
    if (isFirst) waiting();
    await pause(lookEvery, undefined, { signal });
  }
  return undefined;
}

/** True for the file, pipe or terminal that this process prints to, by whichever name: opened again it would begin at its start. */
function isStandardOutput({ dev, ino }: Stats): boolean {
  try {
    const own = fstatSync(standardOutput);
    return own.dev === dev && own.ino === ino;
  } catch {
    return false;
  }
}

/** The path at the end of all links, also if nothing is there yet. Rejects as node:fs does. */
export async function behindLinks(path: string): Promise<string> {
  let file = resolve(path);
  for (let hops = 0; hops < 40; hops += 1) {
    try {
      return await realpath(file);
    } catch (error) {
      if (!isFileError(error, "ENOENT", "ENOTDIR")) throw error;
      const next = await readlink(file).catch(() => undefined);
      if (next === undefined) return file;
      file = resolve(dirname(file), next);
    }
  }
  throw new Error("too many links");
}

const byteOrderMark = "\uFEFF";

/**
 * Replaces the text of a file atomically. Keeps its permissions, its byte order mark, and a link that leads to it. Returns
 * false, and leaves the file as it is, if its text is not `before`. Rejects as node:fs does.
 */
export async function replaceText(file: string, before: string, after: string): Promise<boolean> {
  const target = await realpath(file);
  const { mode } = await stat(target);
  const found = await readFile(target, "utf8");
  const mark = found.startsWith(byteOrderMark) ? byteOrderMark : "";
  if (found.slice(mark.length) !== before) return false;
  await writeAtomically(target, mark + after, undefined, mode & 0o777);
  return true;
}
