/** @module Logs requests without secrets to a file, one JSON object per line, and keeps the latest in memory. */
import { closeSync, ftruncateSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { isObject, type Json } from "../../model/json.ts";
import type { StorageTrouble } from "../model/service-error.ts";

export interface KnownSecrets {
  add(value: string): void;
  /** True for a text that is itself a secret or a session token. */
  has(text: string): boolean;
  /** The text with every secret replaced by `[redacted]`. */
  redact(text: string): string;
}

/** Shorter values would match by chance. */
const minLength = 6;

/** A session token (JWT): its header begins with `eyJ`, base64 of `{"`. The bound keeps the time linear. */
const sessionToken = /eyJ[\w-]{8,1000}\.[\w-]{8,4000}\.[\w-]{16,200}/g;

function withoutTokens(text: string): string {
  return text.replace(sessionToken, "[redacted]");
}

export function createKnownSecrets(): KnownSecrets {
  const values = new Set<string>();
  return {
    add(value) {
      if (value.length >= minLength) values.add(value);
    },
    has: (text) => values.has(text) || withoutTokens(text) !== text,
    redact(text) {
      let clean = withoutTokens(text);
      for (const value of values) if (clean.includes(value)) clean = clean.replaceAll(value, "[redacted]");
      return clean;
    },
  };
}

const secretKey = /pass|secret|token|credential|authorization/i;

/** Strings under keys that are meant for secrets, such as `password`. */
export function secretsIn(body: Json): readonly string[] {
  if (Array.isArray(body)) return body.flatMap(secretsIn);
  if (!isObject(body)) return [];
  return Object.entries(body).flatMap(([key, value]) =>
    secretKey.test(key) && typeof value === "string" ? [value] : secretsIn(value),
  );
}

/** A body without secrets for the log, and the paths of secrets under keys that are not meant for them. */
export function redactBody(
  body: Json,
  secrets: KnownSecrets,
): { readonly body: Json; readonly misplaced: readonly string[] } {
  const misplaced: string[] = [];
  const clean = (value: Json, path: string): Json => {
    if (typeof value === "string") {
      const redacted = secrets.redact(value);
      if (redacted !== value) misplaced.push(path);
      return redacted;
    }
    if (Array.isArray(value)) return value.map((entry: Json, index) => clean(entry, `${path}[${index}]`));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, entry]): [string, Json] => {
      const at = path === "" ? key : `${path}.${key}`;
      if (secretKey.test(key)) return [key, "[redacted]"];
      if (key !== "acl" || typeof entry !== "string") return [key, clean(entry, at)];
      // Passwords and hashes follow these characters. The users host refuses them, but clients may send them.
      return [key, clean(entry.replaceAll(/([<>#!])[^\s']+/g, "$1[redacted]"), at)];
    });
    return Object.fromEntries(entries);
  };
  return { body: clean(body, ""), misplaced };
}

/** A logged request: no query values, no headers, no secrets. */
export interface RequestEntry {
  readonly seq: number;
  readonly time: string;
  readonly host: "platform" | "users";
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly query: readonly string[];
  /** Status of the answer; 0 if the connection was cut without one. */
  readonly status: number;
  readonly ms: number;
  readonly body?: Json;
  readonly fault?: readonly string[];
  /** Notes on secrets that were sent in a wrong place. */
  readonly notes?: readonly string[];
}

export interface RequestLog {
  add(entry: Omit<RequestEntry, "seq">): void;
  /** Entries since the start after a sequence number, oldest first: up to 20,000 entries and 16 MiB. */
  after(seq: number): readonly RequestEntry[];
  clear(): void;
  close(): void;
}

/** Entries in memory, and their length in characters. */
const [maxEntries, maxCharacters] = [20_000, 16 * 1024 * 1024];

/** Size in bytes above which the file is rotated. */
const maxSize = 64 * 1024 * 1024;

/**
 * Opens the log; a file above 64 MiB is moved to `<path>.1`. Lines are written once per event-loop turn, all or none. A failed
 * write neither throws nor blocks: the next line that is written says how many were lost. Throws only if the file cannot be
 * opened at first.
 */
export function openRequestLog(path: string, trouble: StorageTrouble): RequestLog {
  let file = openFile(path);
  let entries: Kept[] = [];
  let characters = 0;
  let lines: string[] = [];
  let [seq, lost] = [0, 0];

  const write = (text: string): void => {
    const bytes = Buffer.from(text);
    try {
      if (writeSync(file.fd, bytes) < bytes.length) throw new Error("no space left on device");
      file = { ...file, size: file.size + bytes.length };
    } catch (error) {
      // A partial line is removed, so that every line is whole.
      ftruncateSync(file.fd, file.size);
      throw error;
    }
  };
  const flush = (): void => {
    if (lines.length === 0) return;
    try {
      if (file.size > maxSize) {
        const next = openFile(path);
        closeSync(file.fd);
        file = next;
      }
      write((lost === 0 ? "" : `${JSON.stringify({ lost })}\n`) + lines.join(""));
      lost = 0;
    } catch (error) {
      lost += lines.length;
      trouble.lost(lines.length, error);
    }
    lines = [];
  };

  return {
    add(entry) {
      seq += 1;
      const full = { seq, ...entry };
      const line = `${JSON.stringify(full)}\n`;
      entries.push({ entry: full, size: line.length });
      characters += line.length;
      if (entries.length > 2 * maxEntries || characters > 2 * maxCharacters) {
        entries = latest(entries);
        characters = entries.reduce((sum, { size }) => sum + size, 0);
      }
      if (lines.length === 0) setImmediate(flush);
      lines.push(line);
    },
    after: (from) => latest(entries).flatMap(({ entry }) => (entry.seq > from ? [entry] : [])),
    clear() {
      entries = [];
      characters = 0;
    },
    close() {
      flush();
      closeSync(file.fd);
    },
  };
}

type Kept = { readonly entry: RequestEntry; readonly size: number };

function latest(entries: readonly Kept[]): Kept[] {
  let room = maxCharacters;
  const first = entries.findLastIndex(({ size }, index) => {
    room -= size;
    return room < 0 || index < entries.length - maxEntries;
  });
  return entries.slice(first + 1);
}

function openFile(path: string): { readonly fd: number; readonly size: number } {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxSize) renameSync(path, `${path}.1`);
  return { fd: openSync(path, "a", 0o600), size: size > maxSize ? 0 : size };
}
