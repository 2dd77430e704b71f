/** @module Prepares the data folder that a primary starts from. */
import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSpec } from "./database.ts";
import { EngineError } from "./engine-error.ts";
import type { NodeFiles } from "./node-files.ts";

/**
 * Keeps the node's own data where it has any, otherwise copies the seed. A server with an append-only file reads nothing else, so a
 * snapshot becomes the base of that file. Rejects with EngineError for a seed that is not a snapshot.
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
  await mkdir(temporary, { mode: 0o700 });
  await copyWhole(snapshot, join(temporary, base));
  await writeFile(join(temporary, "appendonly.aof.manifest"), `file ${base} seq 1 type b\n`, { mode: 0o600 });
  await rename(temporary, join(data, "appendonlydir"));
}

/** Copies a file atomically and durably, with mode 0600. */
export async function copyWhole(from: string, to: string): Promise<void> {
  const temporary = `${to}.partial`;
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
  const file = await open(seed, "r").catch((cause: unknown) => {
    throw new EngineError("engine-start", `the snapshot ${seed} cannot be read`, cause);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(9), 0, 9, 0);
    const magic = buffer.toString("latin1", 0, bytesRead);
    if (!/^(REDIS\d{4}|VALKEY\d{3})$/.test(magic))
      throw new EngineError("engine-start", `${seed} is no snapshot of a database`);
  } finally {
    await file.close();
  }
}
