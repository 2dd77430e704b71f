import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, type Json } from "../../model/json.ts";
import { writeDurably } from "../durable.ts";
import { type NodeFiles, nodeFiles } from "./node-files.ts";

/** What a database's folder remembers by itself. The file is 0600: it holds the operator's password. */
export interface DatabaseRecord {
  /** Password of the operator: random, made with the folder. */
  readonly secret: string;
  /** Index of the node whose data counts. */
  readonly primary: number;
}

/** A database's folder, made and opened. */
export interface DatabaseFolder {
  readonly dir: string;
  readonly nodes: readonly NodeFiles[];
  readonly record: DatabaseRecord;
}

/**
 * Makes what is missing of a database's folder, for its owner only, and reads what it remembers. Wants the real path:
 * processes are found by it.
 */
export async function openFolder(dir: string, nodes: number): Promise<DatabaseFolder> {
  const files = Array.from({ length: nodes }, (_, index) => nodeFiles(dir, index));
  for (const { data } of files) await mkdir(data, { recursive: true, mode: 0o700 });
  const known = await readRecord(dir);
  const record = known ?? { secret: randomBytes(32).toString("hex"), primary: 0 };
  if (known === undefined) await saveRecord(dir, record);
  return { dir, nodes: files, record: { ...record, primary: record.primary < nodes ? record.primary : 0 } };
}

/** Writes what the folder is to remember. */
export async function saveRecord(dir: string, record: DatabaseRecord): Promise<void> {
  await writeDurably(recordFile(dir), `${JSON.stringify(record)}\n`);
}

async function readRecord(dir: string): Promise<DatabaseRecord | undefined> {
  const text = await readFile(recordFile(dir), "utf8").catch(() => "");
  if (text === "") return undefined;
  const value: Json = JSON.parse(text);
  if (!isObject(value)) return undefined;
  const { secret, primary } = value;
  return typeof secret === "string" && typeof primary === "number" ? { secret, primary } : undefined;
}

function recordFile(dir: string): string {
  return join(dir, "database.json");
}
