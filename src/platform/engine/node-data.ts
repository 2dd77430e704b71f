import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../files/atomic-write.ts";
import { isObject } from "../../model/json.ts";
import type { NodeFiles } from "./node-files.ts";

/** What a node's data folder says of itself: written once the node had all of the database's data. */
export interface DataMark {
  /** Epoch in which the node became primary last; -1 for one that never was. */
  readonly epoch: number;
  /** An append-only file belongs to the data. */
  readonly aof: boolean;
}

/** The mark of a node's data; undefined where there is none. */
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

/** Marks a node's data, unless they are marked so. `epoch` is of a primary; a replica keeps the one that it has. */
export async function markData(files: NodeFiles, aof: boolean, epoch?: number): Promise<void> {
  const known = await readMark(files);
  const mark: DataMark = { epoch: epoch ?? known?.epoch ?? -1, aof };
  if (known?.epoch === mark.epoch && known.aof === mark.aof) return;
  await writeAtomically(join(files.data, "mark.json"), `${JSON.stringify(mark)}\n`);
}

/**
 * True where a node that had the database's data has it no more: the mark is gone, or what the append-only file is made of.
 * The server itself would not notice: it starts with nothing.
 */
export async function isDataGone(files: NodeFiles): Promise<boolean> {
  const mark = await readMark(files);
  if (mark === undefined) return true;
  if (!mark.aof) return false;
  const parts = await appendOnlyParts(files);
  return parts === undefined || !(await Promise.all(parts.map(sizeOf))).every((size) => size !== undefined);
}

/** Bytes of a node's append-only file; 0 where there is none. Of two nodes without a key, the one with more has a history. */
export async function historyOf(files: NodeFiles): Promise<number> {
  const sizes = await Promise.all(((await appendOnlyParts(files)) ?? []).map(sizeOf));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

/** Moves a node's data aside, to `data.aside`, in the place of what was moved there before; the node begins with nothing. */
export async function setDataAside({ data }: NodeFiles): Promise<void> {
  await rm(`${data}.aside`, { recursive: true, force: true });
  await rename(data, `${data}.aside`);
}

/** Removes a node's data for good. */
export async function removeData({ data }: NodeFiles): Promise<void> {
  await rm(data, { recursive: true, force: true });
}

/** Files that the append-only file is made of; undefined where there is no list of them. */
async function appendOnlyParts({ data }: NodeFiles): Promise<readonly string[] | undefined> {
  const folder = join(data, "appendonlydir");
  const names = await readdir(folder).catch(() => []);
  const list = names.find((name) => name.endsWith(".manifest"));
  if (list === undefined) return undefined;
  const text = await readFile(join(folder, list), "utf8").catch(() => "");
  // The history, type h, is on its way out.
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
