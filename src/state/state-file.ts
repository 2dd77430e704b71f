/** @module Reads a state and its log as a pair, and tells when either file has changed. */
import { readFile, readlink, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileTrouble, isFileError } from "../files/file-trouble.ts";
import { GraphformError } from "../model/errors.ts";
import type { StateDocument } from "../model/state.ts";
import { readState } from "./read-state.ts";
import { logOf } from "./state-writer.ts";

/** The file that a path leads to through links, also where nothing is there yet. Throws `state-unreadable`, as all here do. */
export async function targetOf(path: string): Promise<string> {
  let file = resolve(path);
  for (let hops = 0; hops < 40; hops += 1) {
    try {
      return await realpath(file);
    } catch (error) {
      if (isFileError(error, "ENOENT", "ENOTDIR")) {
        const next = await readlink(file).catch(() => undefined);
        if (next === undefined) return file;
        file = resolve(dirname(file), next);
      } else throw unreadable(path, error);
    }
  }
  throw unreadable(path, new Error("too many links"));
}

/** The stamps of a state's document and of its log; undefined for a file that is not there. */
export interface FileStamps {
  readonly document: string | undefined;
  readonly log: string | undefined;
}

/** Tells both files of a state from all others that stood there. */
export async function stampsOf(file: string): Promise<FileStamps> {
  return { document: await stampOf(file), log: await stampOf(logOf(file)) };
}

/** Reads that are tried while another process replaces the document. */
const patience = 100;

/** The texts of a state's document and of its log as they belong together, with their stamps. */
export interface StateTexts {
  readonly text: string | undefined;
  readonly log: string | undefined;
  readonly stamps: FileStamps;
}

/** Reads both texts, also while another process writes: a log is replaced only under another document. */
export async function readTexts(file: string): Promise<StateTexts> {
  for (let attempt = 1; ; attempt += 1) {
    const stamps = await stampsOf(file);
    const text = stamps.document === undefined ? undefined : await textOf(file);
    const log = text === undefined || stamps.log === undefined ? undefined : await textOf(logOf(file));
    if ((await stampOf(file)) !== stamps.document && attempt < patience) continue;
    return { text, log, stamps };
  }
}

/** Reads a state with its log. `path` is the state, for messages. */
export async function readStored(
  file: string,
  path: string,
  name: string | undefined,
): Promise<{ readonly state: StateDocument | undefined; readonly stamps: FileStamps }> {
  const { text, log, stamps } = await readTexts(file);
  return { state: text === undefined ? undefined : readState(text, path, name, log), stamps };
}

/** Tells a file from every other one that stood at its path; undefined where there is none. */
export async function stampOf(file: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs].join(":");
  } catch (error) {
    if (isFileError(error, "ENOENT")) return undefined;
    throw unreadable(file, error);
  }
}

/** The content of a file; undefined where there is none. */
export async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isFileError(error, "ENOENT")) return undefined;
    throw unreadable(file, error);
  }
}

function unreadable(where: string, cause: unknown): GraphformError {
  return new GraphformError(
    "state-unreadable",
    `the state ${where} could not be read: ${fileTrouble(cause)}`,
    {
      hint: "allow reading it, or name another file with --state",
      cause,
    },
  );
}
