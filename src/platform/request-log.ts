import { closeSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import type { Json } from "../model/json.ts";

/** One request as it is remembered: no query values, no headers, no secrets. */
export interface RequestEntry {
  readonly seq: number;
  readonly time: string;
  readonly host: "platform" | "users";
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly query: readonly string[];
  /** 0 when the connection was cut without an answer. */
  readonly status: number;
  readonly ms: number;
  readonly body?: Json;
  /** What struck it on purpose. */
  readonly fault?: readonly string[];
  /** Secrets that arrived where none belongs. */
  readonly notes?: readonly string[];
}

/** The log of requests: one JSON object a line in a file, the latest also in memory. */
export interface RequestLog {
  add(entry: Omit<RequestEntry, "seq">): void;
  /** Entries of this run after a sequence number, oldest first; the last 20,000 are kept. */
  after(seq: number): readonly RequestEntry[];
  clear(): void;
  close(): void;
}

const kept = 20_000;
const largestFile = 64 * 1024 * 1024;

/** Opens the log; a file above 64 MiB is set aside as `<path>.1` first. Lines are written once per turn. */
export function openRequestLog(path: string): RequestLog {
  let file = openFile(path);
  let written = file.size;
  let entries: RequestEntry[] = [];
  let lines: string[] = [];
  let seq = 0;

  const flush = (): void => {
    if (lines.length === 0) return;
    const text = lines.join("");
    lines = [];
    writeSync(file.fd, text);
    written += text.length;
    if (written > largestFile) {
      closeSync(file.fd);
      file = openFile(path);
      written = file.size;
    }
  };

  return {
    add(entry) {
      seq += 1;
      const full = { seq, ...entry };
      entries.push(full);
      if (entries.length > 2 * kept) entries = entries.slice(-kept);
      if (lines.length === 0) setImmediate(flush);
      lines.push(`${JSON.stringify(full)}\n`);
    },
    after: (from) => entries.slice(-kept).filter((entry) => entry.seq > from),
    clear() {
      entries = [];
    },
    close() {
      flush();
      closeSync(file.fd);
    },
  };
}

function openFile(path: string): { readonly fd: number; readonly size: number } {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largestFile) renameSync(path, `${path}.1`);
  return { fd: openSync(path, "a", 0o600), size: size > largestFile ? 0 : size };
}
