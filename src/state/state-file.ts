/** @module Reads a state and its log as a pair, and tells when either file has changed. */
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { fileTrouble, ifThere } from "../files/file-trouble.ts";
import { behindLinks } from "../files/write-result.ts";
import { GraphformError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { StateDocument } from "../model/state.ts";
import type { VersionId } from "./document.ts";
import { readState } from "./read-state.ts";
import { spanOf } from "./state-log.ts";
import { backupOf, logOf } from "./state-writer.ts";
import type { Newer } from "./store-trouble.ts";

/** The file that a path leads to through links, also if nothing is there yet. Throws `state-unreadable`, as all here do. */
export async function targetOf(path: string): Promise<string> {
  return behindLinks(path).catch(unreadable(path));
}

/** Tell both files of a state from all others that ever stood there; undefined for a file that is not there. */
export interface FileStamps {
  readonly document: string | undefined;
  readonly log: string | undefined;
}

export async function stampsOf(file: string): Promise<FileStamps> {
  return { document: await stampOf(file), log: await stampOf(logOf(file)) };
}

/** Reads that are tried while another process replaces the document. */
const patience = 100;

/** Reads both texts as they belong together, also while another process writes: a log is replaced only under another document. */
export async function readTexts(file: string): Promise<{
  readonly text: string | undefined;
  readonly log: string | undefined;
  readonly backup: VersionId | undefined;
  readonly stamps: FileStamps;
}> {
  for (let attempt = 1; ; attempt += 1) {
    const stamps = await stampsOf(file);
    const text = stamps.document === undefined ? undefined : await textOf(file);
    const log = text === undefined || stamps.log === undefined ? undefined : await textOf(logOf(file));
    const backup = text === undefined ? undefined : await versionAt(backupOf(file));
    if ((await stampOf(file)) !== stamps.document && attempt < patience) continue;
    return { text, log, backup, stamps };
  }
}

export interface StoredState {
  readonly state: StateDocument | undefined;
  readonly stamps: FileStamps;
  /** A newer version beside it: an older copy was put in its place. */
  readonly newer?: Newer;
}

/** Reads a state with its log. `path` is the state, for messages. */
export async function readStored(file: string, path: string, name: string | undefined): Promise<StoredState> {
  const { text, log, backup, stamps } = await readTexts(file);
  if (text === undefined) return { state: undefined, stamps };
  const state = readState(text, path, name, log);
  const newer = newerThan(state, backup, log);
  return { state, stamps, ...defined({ newer }) };
}

/** The newer version beside a state. A log that follows this very version does not count: its run died early, or a person gave it up. */
function newerThan(state: StateDocument, backup?: VersionId, log?: string): Newer | undefined {
  const { head, last } = (log === undefined ? undefined : spanOf(log)) ?? {};
  const isOurs = ({ lineage }: Pick<VersionId, "lineage">): boolean => lineage === state.lineage;
  const inLog =
    head !== undefined && isOurs(head) && head.serial !== state.serial ? Math.max(head.serial, last ?? 0) : 0;
  const inBackup = backup !== undefined && isOurs(backup) ? backup.serial : 0;
  const serial = Math.max(inLog, inBackup);
  return serial > state.serial ? { serial, isBackedUp: inBackup > state.serial } : undefined;
}

/** The version in the head of a document's file; undefined if there is none. */
async function versionAt(path: string): Promise<VersionId | undefined> {
  const head = await text(createReadStream(path, { end: 4095 })).catch(() => "");
  const [, lineage] = /"lineage":\s*"([^"\\]+)"/.exec(head) ?? [];
  const [, serial] = /"serial":\s*(\d+)/.exec(head) ?? [];
  if (!/"version":\s*[23]\b/.test(head) || lineage === undefined || serial === undefined) return undefined;
  return { lineage, serial: Number(serial) };
}

/** Identifies a file among all that stood at its path; undefined if there is none. */
export async function stampOf(file: string): Promise<string | undefined> {
  const found = await ifThere(stat(file, { bigint: true })).catch(unreadable(file));
  return found && [found.dev, found.ino, found.size, found.mtimeNs].join(":");
}

export async function textOf(file: string): Promise<string | undefined> {
  return ifThere(readFile(file, "utf8")).catch(unreadable(file));
}

function unreadable(where: string): (cause: unknown) => never {
  return (cause) => {
    const message = `the state ${where} could not be read: ${fileTrouble(cause)}`;
    const hint = "allow reading it, or name another file with --state";
    throw new GraphformError("state-unreadable", message, { hint, cause });
  };
}
