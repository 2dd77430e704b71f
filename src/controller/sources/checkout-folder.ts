/** @module Makes and removes the folders of checkouts, and writes files into them that are checked before. */
import { lstat, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GraphformError } from "../../index.ts";
import { refused } from "./git-url.ts";

const mb = 1024 * 1024;

export const limits: {
  readonly [name in "files" | "fileBytes" | "bytes" | "entries" | "fetchedBytes" | "ms" | "depth"]: number;
} = {
  /** Files of a manifest. */
  files: 1000,
  /** Bytes of one file. */
  fileBytes: 10 * mb,
  /** Bytes of all files. */
  bytes: 64 * mb,
  /** Entries of the manifest's folder in the repository. */
  entries: 20_000,
  /** Bytes that are fetched for one commit. */
  fetchedBytes: 256 * mb,
  /** Ms for one request to a repository. */
  ms: 120_000,
  /** Steps of the path of a folder. */
  depth: 32,
};

const prefix = "graphform-checkout-";

/** Ms after which a folder belongs to no run any more: a run that was killed leaves one. */
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

/** Makes a folder in the machine's temporary folder. Removes those that killed processes have left there a day ago. */
async function makeWorkFolder(): Promise<WorkFolder> {
  await removeAbandoned();
  const root = await mkdtemp(join(tmpdir(), prefix));
  const files = join(root, "files");
  await mkdir(files, { mode: 0o700 });
  return { root, files, remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }) };
}

async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const path = join(tmpdir(), name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory() !== true || found.uid !== process.getuid?.()) continue;
    if (Date.now() - found.mtimeMs > abandonedAfter) await rm(path, { recursive: true, force: true });
  }
}

/** Does work in a new folder, which is removed if the work fails. */
export async function inWorkFolder<T>(work: (folder: WorkFolder) => Promise<T>): Promise<T> {
  const folder = await makeWorkFolder();
  try {
    return await work(folder);
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

export interface SourceText {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Names of files that are read: no folders, no hidden files, nothing that a terminal or a shell would interpret. */
const fileName = /^[\p{L}\p{N}_][\p{L}\p{N}_ .@+=-]{0,200}\.yaml$/u;

/** Throws `source-refused` for a name that is none of a manifest's file. */
export function assertFileName(name: string): void {
  if (!fileName.test(name))
    throw refused(
      `${JSON.stringify(name.slice(0, 80))} is no name of a manifest's file: letters, digits and _ . @ + = - before .yaml, without a folder`,
    );
}

/** Writes the files in the order of their names; returns their paths. Throws `source-refused` if they are too many, or too large. */
export async function writeFiles(folder: string, files: readonly SourceText[]): Promise<readonly string[]> {
  if (files.length === 0)
    throw new GraphformError("source-empty", "the manifest's folder contains no *.yaml file", {
      hint: "correct the path of the manifest, or add its file",
    });
  assertSizes(files.map(({ name, bytes }) => ({ name, size: bytes.length })));
  const paths: string[] = [];
  for (const { name, bytes } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    assertFileName(name);
    const path = join(folder, name);
    await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
    paths.push(path);
  }
  return paths;
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
