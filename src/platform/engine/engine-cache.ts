import { existsSync, globSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A server in the cache, with the shared libraries that came with it. */
export interface CachedServer {
  readonly file: string;
  readonly libraries: readonly string[];
}

/** Where servers are kept that the set-up fetched. */
export function engineCache(env: NodeJS.ProcessEnv): string {
  const base = env["XDG_CACHE_HOME"];
  return join(base === undefined || base === "" ? join(homedir(), ".cache") : base, "graphform", "engine");
}

/** The servers in the cache, newest name first. */
export function cachedServers(cache: string): readonly CachedServer[] {
  const folders = globSync("*/", { cwd: cache }).toSorted((a, b) =>
    b.localeCompare(a, "en", { numeric: true }),
  );
  return folders.flatMap((folder) => cachedServer(join(cache, folder)) ?? []);
}

/** The server in one folder that packages were unpacked into; undefined where there is none. */
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
