/** @module Stores records of one type in a folder, one JSON file each. */
import { mkdir, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { removeDurably, writeAtomically } from "../../files/atomic-write.ts";
import { inTurn } from "../in-turn.ts";
import { createStorageTrouble, type StorageTrouble } from "./storage-trouble.ts";

/**
 * Records of one type. `get` and `list` show only what is on disk: a change is written before it is shown, so that a crash or a full
 * disk takes nothing back. Changes of one record run one after another. A change that cannot be written rejects with StorageError
 * and leaves the record unchanged.
 */
export interface Collection<T extends { readonly id: string }> {
  get(id: string): T | undefined;
  /** All records, oldest first. */
  list(): readonly T[];
  /** Adds a record. */
  add(record: T): Promise<void>;
  /**
   * Changes a record. `change` gets the current record and returns the next one, or the same one for no change; an error that it
   * throws refuses the change. Resolves with the record after the change, or with undefined where the record does not exist.
   */
  update(id: string, change: (record: T) => T): Promise<T | undefined>;
  /** Removes a record. `check` gets the current record and may refuse by throwing. */
  remove(id: string, check?: (record: T) => void): Promise<void>;
  /** Resolves when all writes have ended. */
  settled(): Promise<void>;
}

/** Opens a folder, creating it if needed. Rejects, naming the file, where a file is not a valid record. */
export async function openCollection<T extends { readonly id: string; readonly createdAt: string }>(
  folder: string,
  isRecord: (value: unknown) => value is T,
  trouble: StorageTrouble = createStorageTrouble(),
): Promise<Collection<T>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let records = new Map<string, T>();
  for (const record of await readAll(folder, isRecord)) records.set(record.id, record);
  const writing = new Set<Promise<unknown>>();

  const fileOf = (id: string): string => join(folder, `${id}.json`);
  const enqueue = async <R>(id: string, work: () => Promise<R>): Promise<R> => {
    const done = inTurn(fileOf(id), work);
    writing.add(done);
    try {
      return await done;
    } finally {
      writing.delete(done);
    }
  };
  const write = async (record: T): Promise<void> => {
    const text = JSON.stringify(record);
    try {
      await writeAtomically(fileOf(record.id), text);
    } catch (error) {
      // The file may have been written in spite of the error; the next start would read it.
      if ((await readFile(fileOf(record.id), "utf8").catch(() => "")) !== text) throw trouble.failed(error);
    }
    const newest = [...records.values()].at(-1);
    const isLate = !records.has(record.id) && newest !== undefined && newest.createdAt > record.createdAt;
    records.set(record.id, record);
    if (isLate) records = new Map([...records.values()].sort(byAge).map((entry) => [entry.id, entry]));
  };

  return {
    get: (id) => records.get(id),
    list: () => [...records.values()],
    add: (record) => enqueue(record.id, () => write(record)),
    update: (id, change) =>
      enqueue(id, async () => {
        const record = records.get(id);
        const next = record === undefined ? undefined : change(record);
        if (next !== undefined && next !== record) await write(next);
        return next;
      }),
    remove: (id, check) =>
      enqueue(id, async () => {
        const record = records.get(id);
        if (record === undefined) return;
        check?.(record);
        await removeDurably(fileOf(id)).catch((error: unknown) => {
          throw trouble.failed(error);
        });
        records.delete(id);
      }),
    async settled() {
      await Promise.allSettled(writing);
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
  return found.sort(byAge);
}

function byAge(a: { readonly createdAt: string }, b: { readonly createdAt: string }): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0;
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
