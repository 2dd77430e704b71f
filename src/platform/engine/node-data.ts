/** @module Marks the data of a node, and detects its loss. */
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../files/atomic-write.ts";
import { isObject } from "../../model/json.ts";
import type { NodeFiles } from "./node-files.ts";

/** The mark in a node's data folder, written once the node had all data of the database. */
export interface DataMark {
  /** Last epoch in which the node became primary; -1 for a node that never was. */
  readonly epoch: number;
  /** True where the data include an append-only file. */
  readonly aof: boolean;
}

/** The mark of a node's data; undefined without one. */
export async function readMark({ data }: NodeFiles): Promise<DataMark | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(data, "mark.json"), "utf8"));
    if (!isObject(value)) return undefined;
    const { epoch, aof } = value;
    return typeof epoch === "number" && typeof aof === "boolean" ? { epoch, aof } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the mark, unless it exists already. `epoch` is given for a primary; a replica keeps its own. */
export async function markData(files: NodeFiles, aof: boolean, epoch?: number): Promise<void> {
  const known = await readMark(files);
  const mark: DataMark = { epoch: epoch ?? known?.epoch ?? -1, aof };
  if (known?.epoch === mark.epoch && known.aof === mark.aof) return;
  await writeAtomically(join(files.data, "mark.json"), `${JSON.stringify(mark)}\n`);
}

/**
 * True where a node has lost the data that it had: the mark or a part of the append-only file is missing. The server itself would
 * start empty without an error.
 */
export async function isDataGone(files: NodeFiles): Promise<boolean> {
  const mark = await readMark(files);
  if (mark === undefined) return true;
  if (!mark.aof) return false;
  const parts = await appendOnlyParts(files);
  return parts === undefined || !(await Promise.all(parts.map(sizeOf))).every((size) => size !== undefined);
}

/** Bytes of a node's append-only file; 0 without one. Of two nodes without keys, the one with more bytes has a history. */
export async function historyOf(files: NodeFiles): Promise<number> {
  const sizes = await Promise.all(((await appendOnlyParts(files)) ?? []).map(sizeOf));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

/** Time of the last write to a node's append-only file, or to its snapshot file without one, in ms since 1970; 0 without both. */
export async function lastWriteOf(files: NodeFiles): Promise<number> {
  const parts = (await appendOnlyParts(files)) ?? [join(files.data, "dump.rdb")];
  const found = await Promise.all(parts.map((path) => stat(path).catch(() => undefined)));
  return Math.max(...found.map((seen) => seen?.mtimeMs ?? 0));
}

/** Moves a node's data to `data.aside`, replacing what was there; the node starts empty. False where there is no data. */
export async function setDataAside({ data }: NodeFiles): Promise<boolean> {
  if ((await sizeOf(data)) === undefined) return false;
  await rm(`${data}.aside`, { recursive: true, force: true });
  await rename(data, `${data}.aside`);
  return true;
}

/** Deletes a node's data. */
export async function removeData({ data }: NodeFiles): Promise<void> {
  await rm(data, { recursive: true, force: true });
}

/** Parts of the append-only file; undefined where its list is missing. */
async function appendOnlyParts({ data }: NodeFiles): Promise<readonly string[] | undefined> {
  const folder = join(data, "appendonlydir");
  const names = await readdir(folder).catch(() => []);
  const list = names.find((name) => name.endsWith(".manifest"));
  if (list === undefined) return undefined;
  const text = await readFile(join(folder, list), "utf8").catch(() => "");
  // Parts of type h are history that the server is about to delete.
  const parts = [...text.matchAll(/^file (\S+) seq \d+ type [bi]/gm)].map(([, name = ""]) =>
    join(folder, name),
  );
  return parts.length === 0 ? undefined : parts;
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
