/** @module Makes and removes the folders of checkouts, and writes files into them that are checked before. */
import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { GraphformError } from "../../index.ts";
import { digestOf } from "../digest.ts";
import { refused } from "./git-url.ts";

const mb = 1024 * 1024;

type Limit = "files" | "fileBytes" | "bytes" | "entries" | "fetchedBytes" | "ms" | "depth";

/** Limits of a checkout: files of a manifest, bytes of one and of all, entries of its folder, bytes and ms of a fetch, steps of its path. */
export const limits: { readonly [name in Limit]: number } = {
  ...{ files: 1000, fileBytes: 10 * mb, bytes: 64 * mb, entries: 20_000 },
  ...{ fetchedBytes: 256 * mb, ms: 120_000, depth: 32 },
};

/** The name of a folder tells the machine and the process that it belongs to. */
const prefix = "graphform-checkout-";
const machine = digestOf(hostname()).toString("hex").slice(0, 8);

/** Ms after which a folder belongs to no run any more, with any process. */
const abandonedAfter = 26 * 3_600_000;

/** The files of one commit of a manifest, in a folder that its caller removes. */
export interface Checkout {
  /** Absolute path of a folder with mode 0700. */
  readonly folder: string;
  /** Absolute paths of the manifest's files in it, lowest first. */
  readonly files: readonly string[];
  remove(): Promise<void>;
}

/** A folder for the work of one checkout, with the folder of its files in it. Both have mode 0700. */
export interface WorkFolder {
  readonly root: string;
  readonly files: string;
  remove(): Promise<void>;
}

/** Names of the folders that this process has made, and not removed. */
const own = new Set<string>();

async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(prefix) || own.has(name)) continue;
    const path = join(tmpdir(), name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory() !== true || found.uid !== process.getuid?.()) continue;
    if (Date.now() - found.mtimeMs > abandonedAfter || isOfNone(name))
      await rm(path, { recursive: true, force: true });
  }
}

/** True for a folder of a process of this machine that has ended; its id may be that of this process by now. Not for this one's own. */
function isOfNone(name: string): boolean {
  const [where, pid] = name.slice(prefix.length).split("-");
  if (where !== machine) return false;
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

/** Does work in a new temporary folder, which is removed if the work fails. Removes those that killed processes have left. */
export async function inWorkFolder<T>(work: (folder: WorkFolder) => Promise<T>): Promise<T> {
  await removeAbandoned();
  const name = `${prefix}${machine}-${process.pid}-${randomUUID()}`;
  own.add(name);
  const root = join(tmpdir(), name);
  const remove = async (): Promise<void> => {
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
    own.delete(name);
  };
  try {
    await mkdir(root, { mode: 0o700 });
    const files = join(root, "files");
    await mkdir(files, { mode: 0o700 });
    return await work({ root, files, remove });
  } catch (error) {
    await remove();
    throw error;
  }
}

export interface SourceText {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Names of files that are read: no folders, no hidden files, nothing that a terminal or a shell would interpret. */
export const fileName: RegExp = /^[\p{L}\p{N}_][\p{L}\p{N}_ .@+=-]{0,200}\.yaml$/u;

/** Throws `source-refused` for a name that is not a name of a manifest's file. */
export function assertFileName(name: string): void {
  const form = "letters, digits and _ . @ + = - before .yaml, without a folder";
  const shown = JSON.stringify(name.slice(0, 80));
  if (!fileName.test(name)) throw refused(`${shown} is no name of a manifest's file: ${form}`);
}

/** Writes the files in the order of their names; returns their paths. Throws `source-refused` if they are too many, or too large. */
export async function writeFiles(folder: string, files: readonly SourceText[]): Promise<readonly string[]> {
  if (files.length === 0)
    throw new GraphformError("source-empty", "the manifest's folder contains no *.yaml file", {
      hint: "correct the path of the manifest, or add its file",
    });
  assertSizes(files.map(({ name, bytes }) => ({ name, size: bytes.length })));
  const ordered = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, bytes } of ordered) {
    assertFileName(name);
    await writeFile(join(folder, name), bytes, { flag: "wx", mode: 0o600 });
  }
  return ordered.map(({ name }) => join(folder, name));
}

/** Throws `source-refused` if files are too many, or too large, before any is read. */
export function assertSizes(files: readonly { readonly name: string; readonly size: number }[]): void {
  if (files.length > limits.files) throw refused(`the manifest has more than ${limits.files} files`);
  const large = files.find(({ size }) => size > limits.fileBytes);
  const inMb = (bytes: number): string => `${bytes / mb} MB`;
  if (large !== undefined) throw refused(`${large.name} is larger than ${inMb(limits.fileBytes)}`);
  if (files.reduce((sum, { size }) => sum + size, 0) > limits.bytes)
    throw refused(`the files of the manifest are larger than ${inMb(limits.bytes)} together`);
}
