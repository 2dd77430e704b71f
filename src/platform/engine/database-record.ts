/** @module Stores the primary, the epoch and the operator's password in a database's folder. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../files/atomic-write.ts";
import { fileTrouble } from "../../files/file-trouble.ts";
import { type Json, objectIn } from "../../model/json.ts";
import { type NodeFiles, nodeFiles } from "./node-config.ts";
import { readMark } from "./node-data.ts";
import { EngineError } from "./spec.ts";

/** "whole": all data but the last moment before a failure. "behind": the primary took writes without the node. */
export type DataState = "none" | "whole" | "behind";

/** The record of a database. Its file is 0600, since it contains the operator's password. */
export interface DatabaseRecord {
  readonly secret: string;
  /** Index of the only node that may take writes. */
  readonly primary: number;
  /** Increases with every change of the primary. */
  readonly epoch: number;
  readonly nodes: readonly DataState[];
}

export interface DatabaseFolder {
  readonly dir: string;
  readonly nodes: readonly NodeFiles[];
  readonly record: DatabaseRecord;
}

/** `dir` must be the real path, by which processes are found. Rebuilds a missing record from the nodes' marks. */
export async function openFolder(dir: string, ids: readonly string[]): Promise<DatabaseFolder> {
  const files = ids.map((id, index) => nodeFiles(dir, index, id));
  const known = await readRecord(dir);
  const record = known ?? (await recordFromMarks(files));
  if (known === undefined) await saveRecord(dir, record);
  const primary = record.primary < ids.length ? record.primary : 0;
  const nodes = files.map((_, at) => record.nodes[at] ?? "none");
  return { dir, nodes: files, record: { ...record, primary, nodes } };
}

/** Writes the record. Rejects with EngineError if the next start would not read it. */
export async function saveRecord(dir: string, record: DatabaseRecord): Promise<void> {
  const text = `${JSON.stringify(record)}\n`;
  try {
    await writeAtomically(recordFile(dir), text);
  } catch (error) {
    // The file may have been written in spite of the error, and the next start would read it.
    if ((await readFile(recordFile(dir), "utf8").catch(() => "")) === text) return;
    const message = `the record of the database cannot be written: ${fileTrouble(error)}`;
    throw new EngineError("engine-refused", message, error);
  }
}

/** The record with another primary and a new epoch; the same record if nothing changes. */
export function withPrimary(record: DatabaseRecord, primary: number): DatabaseRecord {
  return primary === record.primary ? record : { ...record, primary, epoch: record.epoch + 1 };
}

export function withDataState(record: DatabaseRecord, index: number, dataState: DataState): DatabaseRecord {
  return { ...record, nodes: record.nodes.map((state, at) => (at === index ? dataState : state)) };
}

async function recordFromMarks(files: readonly NodeFiles[]): Promise<DatabaseRecord> {
  const marks = await Promise.all(files.map(readMark));
  const epoch = Math.max(0, ...marks.map((mark) => mark?.epoch ?? 0));
  const primary = marks.findIndex((mark) => mark?.epoch === epoch);
  return {
    secret: randomBytes(32).toString("hex"),
    primary: Math.max(0, primary),
    epoch,
    nodes: marks.map((mark) => (mark === undefined ? "none" : "whole")),
  };
}

async function readRecord(dir: string): Promise<DatabaseRecord | undefined> {
  const file = recordFile(dir);
  const text = await readFile(file, "utf8").catch(() => "");
  if (text === "") return undefined;
  const { secret, primary, epoch = 0, nodes = [] } = objectIn(text) ?? {};
  if (typeof secret !== "string" || !Array.isArray(nodes)) throw damaged(file);
  if (typeof primary !== "number" || typeof epoch !== "number") throw damaged(file);
  return {
    secret,
    primary,
    epoch,
    nodes: nodes.map((state: Json) => (state === "whole" || state === "behind" ? state : "none")),
  };
}

function damaged(file: string): EngineError {
  return new EngineError(
    "engine-start",
    `${file} is damaged; move it away, and the nodes' own data say which of them was primary`,
  );
}

function recordFile(dir: string): string {
  return join(dir, "database.json");
}
