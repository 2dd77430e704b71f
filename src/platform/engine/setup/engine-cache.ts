/** @module Finds the graph module and servers, installed or in the user's cache, and adds to that cache. */
import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { isFileError } from "../../../files/file-trouble.ts";

/** The npm package with the graph module and a server for newer systems. A test compares it with package-lock.json. */
export const modulePackage = {
  name: "@falkordblite/linux-x64",
  version: "8.2.3-falkordb.4.16.3",
  /** Hash of the package's file, as in a lock file. */
  integrity:
    "sha512-0X4Olb3lBnMkxvGsRiTTT4q/SNTkDPaNPBGWNm8qSBoWkbY6VxgCs9jHRkkZWB11hIzjLRJbcoVSjjGuroXp6w==",
  system: "linux",
  processor: "x64",
} as const;

export function hasModulePackage(machine: { readonly platform: string; readonly arch: string }): boolean {
  return machine.platform === modulePackage.system && machine.arch === modulePackage.processor;
}

/** A database server, and the folders of shared libraries that came with it. */
export interface ServerFile {
  readonly file: string;
  readonly libraries?: readonly string[];
}

export function engineCache(env: NodeJS.ProcessEnv): string {
  const base = env["XDG_CACHE_HOME"];
  return join(base === undefined || base === "" ? join(homedir(), ".cache") : base, "graphform", "engine");
}

/** Cached servers, highest version first. */
export function cachedServers(cache: string): readonly ServerFile[] {
  const folders = globSync("*/", { cwd: cache }).toSorted((a, b) =>
    b.localeCompare(a, "en", { numeric: true }),
  );
  return folders.flatMap((folder) => cachedServer(join(cache, folder)) ?? []);
}

export function cachedServer(root: string): ServerFile | undefined {
  const file = ["valkey-server", "redis-server"]
    .map((name) => join(root, "usr", "bin", name))
    .find((path) => existsSync(path));
  if (file === undefined) return undefined;
  const libraries = globSync(["usr/lib/*-linux-gnu", "lib/*-linux-gnu"], { cwd: root }).map((folder) =>
    join(root, folder),
  );
  return { file, libraries };
}

export const cachedModuleFolder: string = `module-${modulePackage.version}-${modulePackage.processor}`;

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Age in ms after which a temporary folder counts as left by a killed run. */
const stale = 3_600_000;

export interface Filling {
  /** An empty folder for downloads; removed at the end. */
  readonly work: string;
  /** Path of the folder to fill; it does not exist yet. */
  readonly root: string;
}

/**
 * Lets `fill` make a folder, and moves it into the cache under the name that it resolves with; resolves with its path. A failed
 * run leaves nothing that counts; several runs may add the same folder at the same time.
 */
export async function addToCache(
  cache: string,
  fill: (filling: Filling) => Promise<string>,
): Promise<string> {
  await mkdir(cache, { recursive: true, mode: 0o700 });
  await removeStale(cache);
  const work = await mkdtemp(join(cache, ".fetching-"));
  try {
    const root = join(work, "root");
    const place = join(cache, await fill({ work, root }));
    await moveInto(root, place, work);
    return place;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Moves a folder to its place atomically; a folder that a concurrent run has just put there is kept. */
async function moveInto(root: string, place: string, work: string): Promise<void> {
  // An existing folder did not work, unless it appeared during this run.
  const placedAt = (await stat(place).catch(() => undefined))?.ctimeMs;
  if (placedAt !== undefined && placedAt > (await stat(work)).birthtimeMs) return;
  if (placedAt !== undefined) await rename(place, join(work, "former")).catch(() => undefined);
  await rename(root, place).catch((error: unknown) => {
    if (!isFileError(error, "ENOTEMPTY") && !isFileError(error, "EEXIST")) throw error;
  });
}

async function removeStale(cache: string): Promise<void> {
  for (const name of (await readdir(cache)).filter((entry) => entry.startsWith(".fetching-"))) {
    const path = join(cache, name);
    const seen = await stat(path).catch(() => undefined);
    if (seen !== undefined && Date.now() - seen.mtimeMs > stale)
      await rm(path, { recursive: true, force: true });
  }
}

/** Path of the graph module: that of GRAPHFORM_MODULE, or from an installed package, or from the set-up; undefined without one. */
export function findModule(env: NodeJS.ProcessEnv): string | undefined {
  const named = env["GRAPHFORM_MODULE"];
  if (named !== undefined && named !== "") return existsSync(named) ? resolve(named) : undefined;
  return inPackage("falkordb.so", env);
}

/** Path of a program or module of the package; undefined if the package is not installed and was not fetched. */
export function inPackage(file: string, env: NodeJS.ProcessEnv): string | undefined {
  return [installedPackage(), join(engineCache(env), cachedModuleFolder)]
    .flatMap((folder) => (folder === undefined ? [] : [join(folder, "bin", file)]))
    .find((path) => existsSync(path));
}

function installedPackage(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${modulePackage.name}/package.json`));
  } catch {
    return undefined;
  }
}

export interface ServerProgram {
  readonly file: string;
  readonly name: "valkey" | "redis";
  readonly version: string;
  /** The complete environment of its processes. */
  readonly env: { readonly [name: string]: string };
}

const oldest = [7, 2] as const;

/** Runs `--version` with the server's libraries. Resolves with the program, or with the reason why it cannot be used. */
export async function askProgram({ file, libraries = [] }: ServerFile): Promise<ServerProgram | string> {
  const folders = [...libraries, ...(process.env["LD_LIBRARY_PATH"] ?? "").split(":")].filter(
    (folder) => folder !== "",
  );
  const env = {
    PATH: "/usr/bin:/bin",
    LC_ALL: "C.UTF-8",
    ...(folders.length > 0 ? { LD_LIBRARY_PATH: folders.join(":") } : {}),
  };
  try {
    const { stdout } = await promisify(execFile)(file, ["--version"], { env, timeout: 10_000 });
    return programOf(file, stdout, env);
  } catch (error) {
    return `does not run here: ${reasonOf(error)}`;
  }
}

function programOf(file: string, text: string, env: ServerProgram["env"]): ServerProgram | string {
  const [, name, version] = /^(valkey|redis) server v=(\S+)/i.exec(text) ?? [];
  if (name === undefined || version === undefined) return "is no valkey or redis server";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))
    return `is ${name} ${version}; the graph module needs ${oldest.join(".")} or newer`;
  return { file, name: name.toLowerCase() === "valkey" ? "valkey" : "redis", version, env };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && error.code === "ENOENT") return "there is no such file";
  if ("code" in error && error.code === "EACCES") return "it may not be executed";
  const stderr = "stderr" in error && typeof error.stderr === "string" ? error.stderr : "";
  const [, version] = /version `(GLIBC_[\w.]{1,20})' not found/.exec(stderr) ?? [];
  const [, library] = /loading shared libraries: ([^:\s]{1,99}):/.exec(stderr) ?? [];
  const lacking = version ?? library;
  return lacking === undefined ? (error.message.split("\n")[0] ?? "") : `this machine lacks ${lacking}`;
}
