/** @module Finds database servers and the graph module that the set-up fetched into the user's cache. */
import { existsSync, globSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { modulePackage } from "./module-package.ts";

/** A cached server, with the shared libraries fetched with it. */
export interface CachedServer {
  readonly file: string;
  readonly libraries: readonly string[];
}

/** Folder of the cache. */
export function engineCache(env: NodeJS.ProcessEnv): string {
  const base = env["XDG_CACHE_HOME"];
  return join(base === undefined || base === "" ? join(homedir(), ".cache") : base, "graphform", "engine");
}

/** Cached servers, highest version first. */
export function cachedServers(cache: string): readonly CachedServer[] {
  const folders = globSync("*/", { cwd: cache }).toSorted((a, b) =>
    b.localeCompare(a, "en", { numeric: true }),
  );
  return folders.flatMap((folder) => cachedServer(join(cache, folder)) ?? []);
}

/** The server in a folder of unpacked packages; undefined without one. */
export function cachedServer(root: string): CachedServer | undefined {
  const file = ["valkey-server", "redis-server"]
    .map((name) => join(root, "usr", "bin", name))
    .find((path) => existsSync(path));
  if (file === undefined) return undefined;
  const libraries = globSync(["usr/lib/*-linux-gnu", "lib/*-linux-gnu"], { cwd: root }).map((folder) =>
    join(root, folder),
  );
  return { file, libraries };
}

/** Folder of the cache with the unpacked package of the graph module. */
export const cachedModuleFolder: string = `module-${modulePackage.version}-${modulePackage.processor}`;

/** A size for people. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
