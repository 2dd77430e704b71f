import type { Json } from "../../model/json.ts";
import type { StorageTrouble } from "../model/storage-trouble.ts";
import { openLogFile } from "./log-file.ts";

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
  /** Entries of this run after a sequence number, oldest first; of the last 20,000 as many as fit into 16 MiB. */
  after(seq: number): readonly RequestEntry[];
  clear(): void;
  close(): void;
}

const kept = 20_000;
const keptCharacters = 16 * 1024 * 1024;

/** Opens the log. Lines are written once per turn; those that cannot be are counted, and requests are answered all the same. */
export function openRequestLog(path: string, trouble: StorageTrouble): RequestLog {
  const file = openLogFile(path, trouble);
  let entries: Kept[] = [];
  let characters = 0;
  let lines: string[] = [];
  let seq = 0;

  const flush = (): void => {
    file.add(lines);
    lines = [];
  };

  return {
    add(entry) {
      seq += 1;
      const full = { seq, ...entry };
      const line = `${JSON.stringify(full)}\n`;
      entries.push({ entry: full, size: line.length });
      characters += line.length;
      if (entries.length > 2 * kept || characters > 2 * keptCharacters) {
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
      file.close();
    },
  };
}

interface Kept {
  readonly entry: RequestEntry;
  /** Characters of its line. */
  readonly size: number;
}

/** The entries that are kept: so many of the last ones, and no more than fit. */
function latest(entries: readonly Kept[]): Kept[] {
  let room = keptCharacters;
  const first = entries.findLastIndex(({ size }, index) => {
    room -= size;
    return room < 0 || index < entries.length - kept;
  });
  return entries.slice(first + 1);
}
