/** @module Finds the graph module and the packaged server. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { cachedModuleFolder, engineCache } from "./engine-cache.ts";
import { modulePackage } from "./module-package.ts";

/** Path of the graph module: that of GRAPHFORM_MODULE, or from an installed package, or from the set-up; undefined without one. */
export function findModule(env: NodeJS.ProcessEnv): string | undefined {
  const named = env["GRAPHFORM_MODULE"];
  if (named !== undefined && named !== "") return existsSync(named) ? resolve(named) : undefined;
  return inPackage("falkordb.so", env);
}

/** Path of the package's own server; undefined where the package is not installed and was not fetched. */
export function packagedServer(env: NodeJS.ProcessEnv): string | undefined {
  return inPackage("redis-server", env);
}

function inPackage(file: string, env: NodeJS.ProcessEnv): string | undefined {
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
