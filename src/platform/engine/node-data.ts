/** @module Prepares, marks and copies the data of a node, and detects its loss. */
import { constants, createReadStream } from "node:fs";
import { copyFile, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { makeFolder, writeAtomically } from "../../files/atomic-write.ts";
import { objectIn } from "../../model/json.ts";
import { type Ask, info, isErrorReply, type Login, talk } from "./connection.ts";
import type { NodeFiles } from "./node-config.ts";
import { logExcerpt } from "./server-process.ts";
import { type DatabaseSpec, EngineError } from "./spec.ts";

/** The mark in a node's data folder, written once the node had all data of the database. */
export interface DataMark {
  /** Last epoch in which the node became primary; -1 for a node that never was. */
  readonly epoch: number;
  readonly aof: boolean;
}

export async function readMark({ data }: NodeFiles): Promise<DataMark | undefined> {
  const { epoch, aof } = objectIn(await readFile(join(data, "mark.json"), "utf8").catch(() => "")) ?? {};
  return typeof epoch === "number" && typeof aof === "boolean" ? { epoch, aof } : undefined;
}

/** Writes the mark, unless it exists already. `epoch` is given for a primary; a replica keeps its own. */
export async function markData(files: NodeFiles, aof: boolean, epoch?: number): Promise<void> {
  const known = await readMark(files);
  const mark: DataMark = { epoch: epoch ?? known?.epoch ?? -1, aof };
  if (known?.epoch === mark.epoch && known.aof === mark.aof) return;
  await writeAtomically(join(files.data, "mark.json"), `${JSON.stringify(mark)}\n`);
}

/** True if the mark or a part of the append-only file is missing. The server itself would start empty without an error. */
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

/** Moves a node's data to `data.aside`, replacing what was there; the node starts empty. False if there is no data. */
export async function moveDataAway({ data }: NodeFiles): Promise<boolean> {
  if ((await sizeOf(data)) === undefined) return false;
  await rm(`${data}.aside`, { recursive: true, force: true });
  await rename(data, `${data}.aside`);
  return true;
}

/** Parts of the append-only file; undefined if its list is missing. */
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

/**
 * Copies the seed if the node has no data; a snapshot becomes the base of the append-only file, since the server reads nothing
 * else. Rejects with EngineError for a seed that is not a snapshot.
 */
export async function prepareData(spec: DatabaseSpec, { data }: NodeFiles): Promise<void> {
  await mkdir(data, { recursive: true, mode: 0o700 });
  const present = new Set(await readdir(data));
  const snapshot = join(data, "dump.rdb");
  if (present.has("appendonlydir")) return;
  if (!present.has("dump.rdb")) {
    if (spec.seed === undefined) return;
    await refuseUnlessSnapshot(spec.seed);
    await copyWhole(spec.seed, snapshot);
  }
  if (spec.aof !== undefined) await writeAppendOnlyBase(data, snapshot);
}

async function writeAppendOnlyBase(data: string, snapshot: string): Promise<void> {
  const temporary = join(data, "appendonlydir.new");
  const base = "appendonly.aof.1.base.rdb";
  await rm(temporary, { recursive: true, force: true });
  await copyWhole(snapshot, join(temporary, base));
  await writeFile(join(temporary, "appendonly.aof.manifest"), `file ${base} seq 1 type b\n`, { mode: 0o600 });
  await rename(temporary, join(data, "appendonlydir"));
}

/** Copies a file atomically and durably, with mode 0600. Makes missing folders (0700). */
export async function copyWhole(from: string, to: string): Promise<void> {
  const temporary = `${to}.partial`;
  await makeFolder(dirname(to));
  try {
    await copyFile(from, temporary, constants.COPYFILE_FICLONE);
    const file = await open(temporary, "r+");
    try {
      await file.chmod(0o600);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, to);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function refuseUnlessSnapshot(seed: string): Promise<void> {
  const magic = await text(createReadStream(seed, { end: 8 })).catch((cause: unknown) => {
    throw new EngineError("engine-start", `the snapshot ${seed} cannot be read`, cause);
  });
  if (!/^(REDIS\d{4}|VALKEY\d{3})$/.test(magic))
    throw new EngineError("engine-start", `${seed} is no snapshot of a database`);
}

/** Maximum time for a snapshot, in ms. */
const longest = 600_000;

/** Makes the server write a snapshot that begins after this call, and copies it to `file`. Rejects with EngineError. */
export async function takeSnapshot(files: NodeFiles, login: Login, file: string): Promise<void> {
  await talk(login, (ask) => save(ask, files), longest);
  await copyWhole(join(files.data, "dump.rdb"), file);
}

async function save(ask: Ask, files: NodeFiles): Promise<void> {
  while (!(await begins(ask))) await untilIdle(ask);
  const after = await untilIdle(ask);
  if (after.get("rdb_last_bgsave_status") === "ok") return;
  throw new EngineError(
    "engine-refused",
    `the snapshot cannot be written: ${await logExcerpt(files.log)} (log: ${files.log})`,
  );
}

/** True if a snapshot begins now; false while another one, or a rewrite of the append-only file, runs. */
async function begins(ask: Ask): Promise<boolean> {
  try {
    await ask("BGSAVE");
    return true;
  } catch (error) {
    if (isErrorReply(error) && /in progress|AOF|another child/i.test(error.message)) return false;
    throw error;
  }
}

async function untilIdle(ask: Ask): Promise<ReadonlyMap<string, string>> {
  for (;;) {
    const seen = await info(ask, "persistence");
    if (seen.get("rdb_bgsave_in_progress") === "0" && seen.get("aof_rewrite_in_progress") === "0")
      return seen;
    await sleep(10);
  }
}
