import { mkdir, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { removeDurably, writeAtomically } from "../files/atomic-write.ts";

/** Records of one sort: in memory for reading, each in its own file for keeping. */
export interface Collection<T extends { readonly id: string }> {
  get(id: string): T | undefined;
  /** All records in the order they were made. */
  list(): readonly T[];
  /** What is safely on disk, and so may be told: what a client has once seen is not taken back by a crash. */
  readonly kept: {
    get(id: string): T | undefined;
    list(): readonly T[];
  };
  /** Puts a record in place at once; resolves when it, or a newer version of it, is safely on disk. */
  save(record: T): Promise<void>;
  /** Takes a record away at once; resolves when its file is gone. */
  remove(id: string): Promise<void>;
  /** Resolves when nothing is left to write. */
  settled(): Promise<void>;
}

/** Opens the records of a folder, made if need be. A file that is no record is refused by name. */
export async function openCollection<T extends { readonly id: string; readonly createdAt: string }>(
  folder: string,
  isRecord: (value: unknown) => value is T,
): Promise<Collection<T>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const records = new Map<string, T>();
  for (const record of await readAll(folder, isRecord)) records.set(record.id, record);
  const kept = new Map(records);
  const writing = new Map<string, Promise<void>>();
  const queued = new Map<string, Promise<void>>();

  const write = async (id: string): Promise<void> => {
    const record = records.get(id);
    const path = join(folder, `${id}.json`);
    if (record === undefined) {
      await removeDurably(path);
      kept.delete(id);
    } else {
      await writeAtomically(path, JSON.stringify(record));
      kept.set(id, record);
    }
  };

  const flush = (id: string): Promise<void> => {
    const waiting = queued.get(id);
    if (waiting !== undefined) return waiting;
    const before = writing.get(id) ?? Promise.resolve();
    const next = before
      .catch(() => undefined)
      .then(() => {
        queued.delete(id);
        writing.set(id, next);
        return write(id);
      })
      .finally(() => {
        if (writing.get(id) === next) writing.delete(id);
      });
    queued.set(id, next);
    return next;
  };

  return {
    get: (id) => records.get(id),
    list: () => [...records.values()],
    kept: { get: (id) => kept.get(id), list: () => [...kept.values()] },
    save(record) {
      records.set(record.id, record);
      return flush(record.id);
    },
    remove(id) {
      records.delete(id);
      return flush(id);
    },
    async settled() {
      await Promise.allSettled([...writing.values(), ...queued.values()]);
    },
  };
}

async function readAll<T extends { readonly createdAt: string }>(
  folder: string,
  isRecord: (value: unknown) => value is T,
): Promise<readonly T[]> {
  const found: T[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (name.endsWith(".tmp")) await unlink(path);
    if (!name.endsWith(".json")) continue;
    found.push(parseRecord(await readFile(path, "utf8"), isRecord, path));
  }
  return found.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
}

function parseRecord<T>(text: string, isRecord: (value: unknown) => value is T, path: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is damaged; move it away to start without that record`, { cause: error });
  }
  if (isRecord(value)) return value;
  throw new Error(`${path} is not a record of this version; move it away to start without it`);
}
