/** @module Finds the graph module and the packaged server. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

/** The npm package with the graph module and a server for newer systems. */
export const modulePackage: string = "@falkordblite/linux-x64";

/** Path of the graph module from GRAPHFORM_MODULE or the package; undefined without one. */
export function findModule(env: NodeJS.ProcessEnv): string | undefined {
  const named = env["GRAPHFORM_MODULE"];
  if (named !== undefined && named !== "") return existsSync(named) ? resolve(named) : undefined;
  return inPackage("falkordb.so");
}

/** Path of the package's own server; undefined where the package is not installed. */
export function packagedServer(): string | undefined {
  return inPackage("redis-server");
}

function inPackage(name: string): string | undefined {
  try {
    const file = join(
      dirname(createRequire(import.meta.url).resolve(`${modulePackage}/package.json`)),
      "bin",
      name,
    );
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}
