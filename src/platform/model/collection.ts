/** @module Stores records of one type in a folder, one JSON file each. */
import { mkdir, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { removeDurably, writeAtomically } from "../../files/atomic-write.ts";
import { jsonIn } from "../../model/json.ts";
import { inTurn } from "../in-turn.ts";
import { createStorageTrouble, type StorageTrouble } from "./service-error.ts";

/**
 * Records of one type. `add`, `update` and `remove` are promises to a client: they are written before they are shown, so that a
 * crash or a full disk takes nothing back; one that cannot be written rejects with StorageError and changes nothing. A `note`
 * is what the platform sees of the world: true whether or not it is written, and shown at once. Writes of one record run one
 * after another.
 */
export interface Collection<T extends { readonly id: string }> {
  get(id: string): T | undefined;
  /** All records, oldest first. */
  list(): readonly T[];
  add(record: T): Promise<void>;
  /** Resolves with the record after `change`, which returns the same one for no change, and may refuse by throwing. */
  update(id: string, change: (record: T) => T): Promise<T | undefined>;
  /**
   * Changes a record in memory; the file follows as soon as it can be written. `change` may be called twice, since a write
   * under way takes it as well, and must depend on the record alone.
   */
  note(id: string, change: (record: T) => T): void;
  /** Removes a record. `check` gets the current record and may refuse by throwing. */
  remove(id: string, check?: (record: T) => void): Promise<void>;
  /** Repeats no failed write from now on, and resolves when all writes have ended. */
  settled(): Promise<void>;
}

/** Shortest and longest pause between attempts to write a note, in ms. */
const [shortest, longest] = [50, 2000];

/** Opens a folder, creating it if needed. Rejects, naming the file, if a file is not a valid record. */
export async function openCollection<T extends { readonly id: string; readonly createdAt: string }>(
  folder: string,
  isRecord: (value: unknown) => value is T,
  trouble: StorageTrouble = createStorageTrouble(),
): Promise<Collection<T>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let records = new Map<string, T>();
  for (const record of await readAll(folder, isRecord)) records.set(record.id, record);
  const writing = new Set<Promise<unknown>>();
  /** Ids of records whose file lacks a note. */
  const behind = new Set<string>();
  /** Notes on a record that is being written. */
  const noted = new Map<string, ((record: T) => T)[]>();
  const closing = new AbortController();

  const fileOf = (id: string): string => join(folder, `${id}.json`);
  const track = <R>(work: Promise<R>): Promise<R> => {
    writing.add(work);
    return work.finally(() => writing.delete(work));
  };
  const enqueue = <R>(id: string, work: () => Promise<R>): Promise<R> => track(inTurn(fileOf(id), work));
  const write = async (record: T): Promise<void> => {
    const { id } = record;
    const text = JSON.stringify(record);
    const notes: ((record: T) => T)[] = [];
    noted.set(id, notes);
    try {
      await writeAtomically(fileOf(id), text);
    } catch (error) {
      // The file may have been written in spite of the error; the next start would read it.
      if ((await readFile(fileOf(id), "utf8").catch(() => "")) !== text) throw trouble.failed(error);
    } finally {
      noted.delete(id);
    }
    const newest = [...records.values()].at(-1);
    const isLate = !records.has(id) && newest !== undefined && newest.createdAt > record.createdAt;
    records.set(
      id,
      notes.reduce((now, change) => change(now), record),
    );
    if (notes.length === 0) behind.delete(id);
    if (isLate) records = new Map([...records.values()].sort(byAge).map((entry) => [entry.id, entry]));
  };

  const writeNotes = async (id: string): Promise<void> => {
    const record = records.get(id);
    if (record !== undefined && behind.has(id)) await write(record);
  };
  const catchUp = async (id: string): Promise<void> => {
    for (let pause = shortest; behind.has(id); pause = Math.min(2 * pause, longest)) {
      try {
        await inTurn(fileOf(id), () => writeNotes(id));
      } catch {
        if (closing.signal.aborted) return;
        await sleep(pause, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
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
    note(id, change) {
      const record = records.get(id);
      const next = record === undefined ? undefined : change(record);
      if (next === undefined || next === record) return;
      records.set(id, next);
      noted.get(id)?.push(change);
      if (behind.has(id)) return;
      behind.add(id);
      void track(catchUp(id));
    },
    remove: (id, check) =>
      enqueue(id, async () => {
        const record = records.get(id);
        if (record === undefined) return;
        check?.(record);
        await removeDurably(fileOf(id)).catch((error: unknown) => {
          throw trouble.failed(error);
        });
        records.delete(id);
        behind.delete(id);
      }),
    async settled() {
      closing.abort();
      while (writing.size > 0) await Promise.allSettled(writing);
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
    const value = jsonIn(await readFile(path, "utf8"));
    if (value === undefined) throw new Error(`${path} is damaged; move it away to start without that record`);
    if (!isRecord(value))
      throw new Error(`${path} is not a record of this version; move it away to start without it`);
    found.push(value);
  }
  return found.sort(byAge);
}

function byAge(a: { readonly createdAt: string }, b: { readonly createdAt: string }): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0;
}
