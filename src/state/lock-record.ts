/** @module Reads and writes the record in a lock file, and tells whether its holder still runs. */
import { createHash, randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import { isFileError } from "../files/file-trouble.ts";
import { isRunning, type ProcessIdentity, thisProcess } from "../files/process-identity.ts";
import { shellWord } from "../model/errors.ts";
import { isObject } from "../model/json.ts";
import type { Hide } from "../model/known-secrets.ts";
import type { Holder } from "./store.ts";

/** The content of a lock file: its holder, and the identity of the holder's process. */
export interface LockRecord extends Holder, ProcessIdentity {
  /** The last write to the file by the clock of the disk, in ms since 1970; not in the file. */
  readonly touched?: number;
}

/** A new lock of this process. Times in ms. */
export function newRecord(operation: string, now: number, lease: number): LockRecord {
  const record = { id: randomBytes(8).toString("hex"), operation, created: new Date(now).toISOString() };
  return renewed({ ...thisProcess(), ...record, heartbeat: "", expires: "" }, now, lease);
}

/** The record with a fresh heartbeat; its text has the same length, so it can be written over the old one in place. */
export function renewed(record: LockRecord, now: number, lease: number): LockRecord {
  return { ...record, heartbeat: new Date(now).toISOString(), expires: new Date(now + lease).toISOString() };
}

/** The text of a lock file. */
export function formatRecord(record: LockRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/**
 * Reads a lock file; undefined where there is none. A file that is no lock of ours (cut short by a power failure, or
 * somebody else's) reads as held by nobody known, and expires a minute after it was last touched.
 */
export async function readRecord(file: string): Promise<LockRecord | undefined> {
  try {
    const handle = await open(file, "r");
    try {
      const { ino, mtimeMs } = await handle.stat();
      const text = await handle.readFile("utf8");
      const record = parse(text);
      return record === undefined
        ? unknownHolder(`${ino} ${mtimeMs} ${text}`, mtimeMs)
        : { ...record, touched: mtimeMs };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isFileError(error, "ENOENT")) return undefined;
    throw error;
  }
}

/**
 * True where the holder surely is no more: a process of this machine that does not run; for any other machine, a
 * lease that has run out by its own clock and by the disk's, since either may be behind. A process of this machine that
 * runs is never gone, however old its heartbeat is.
 */
export function isGone(record: LockRecord, now: number): boolean {
  if (record.machine === thisProcess().machine) return !isRunning(record);
  const { touched = 0 } = record;
  const expires = Date.parse(record.expires);
  const lease = expires - Date.parse(record.heartbeat);
  // A file that was touched later than now was touched by another clock than the one that is asked.
  const kept = touched <= now && now <= touched + lease;
  return Number.isNaN(expires) || (now > expires && !kept);
}

/** True where the holder is known and seen to live: a running process of this machine, or a lease that is kept. */
export function isAlive(record: LockRecord, now: number): boolean {
  return record.machine !== nobody.machine && !isGone(record, now);
}

/** The process that took a lock away, from the line that it left below the record; undefined without such a line. */
export function takerIn(text: string): LockRecord | undefined {
  return parse(text.split("\n")[1] ?? "");
}

/** The first line: whoever takes a lock away leaves one below it. */
function parse(text: string): LockRecord | undefined {
  try {
    const value: unknown = JSON.parse(text.split("\n")[0] ?? "");
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const texts = ["who", "host", "operation", "created", "heartbeat", "expires", "machine", "started"];

function isRecord(value: unknown): value is LockRecord {
  if (!isObject(value)) return false;
  const { id, pid } = value;
  const isIdentified =
    typeof id === "string" && /^[0-9a-f]{16}$/.test(id) && Number.isInteger(pid) && Number(pid) > 0;
  return isIdentified && texts.every((key) => typeof value[key] === "string");
}

/** The holder of a lock whose file names none. */
export const nobody = { who: "somebody", pid: 1, host: "unknown", machine: "unknown", started: "" } as const;

function unknownHolder(seen: string, touched: number): LockRecord {
  const id = createHash("sha256").update(seen).digest("hex").slice(0, 16);
  const created = new Date(touched).toISOString();
  const expires = new Date(touched + 60_000).toISOString();
  return { ...nobody, id, operation: "something", created, heartbeat: created, expires };
}

/** The id of a lock whose store shows none: no lock can be removed by it. */
export const unknownId = "unknown";
/** The work of a holder whose store does not show it. */
export const unknownOperation = "something";
/** The time of a holder whose store does not show it. */
export const unknownTime = "1970-01-01T00:00:00.000Z";

/** Replaces secrets in the text of a holder; its id and its times stay as they are. */
export function shownHolder<Kind extends Pick<Holder, "who" | "operation" | "host">>(
  holder: Kind,
  hide: Hide,
): Kind {
  const { who, operation, host } = holder;
  return { ...holder, who: hide(who), operation: hide(operation), host: hide(host) };
}

/** Characters of a name that are repeated. */
const longestName = 80;

/** The holder and its process: `ann@host (process 7)`, or `somebody`. */
export function holderName({ who, pid }: Pick<Holder, "who" | "pid">): string {
  const name = cut(who);
  return pid === nobody.pid ? name : `${name} (process ${pid})`;
}

/** Its work, to be put after the name: ` for apply`; empty where it is not known. */
export function holderWork({ operation }: Pick<Holder, "operation">): string {
  return operation === unknownOperation ? "" : ` for ${cut(operation)}`;
}

/** A name as a message repeats it: whoever holds a lock writes what they like. */
function cut(text: string): string {
  return text.length > longestName ? `${text.slice(0, longestName)}...` : text;
}

/** The time at which it took the lock, to be put after its work; empty where it is not known. */
export function holderSince({ created }: Pick<Holder, "created">, word: "since" | "at" = "since"): string {
  return created === unknownTime ? "" : ` ${word} ${created}`;
}

/** The way to remove its lock once its process is gone. */
export function unlockHint({ id }: Pick<Holder, "id">): string {
  return id === unknownId
    ? "the store does not show the id of its lock: if that process is surely gone, remove the lock at the store itself"
    : `if that process is surely gone, run: graphform state unlock ${shellWord(id)}`;
}
