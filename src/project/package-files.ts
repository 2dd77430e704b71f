import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject } from "../model/json.ts";

const here = fileURLToPath(import.meta.url);

/** The folder that holds package.json, from wherever this file was bundled to. */
export const packageRoot: string = above(dirname(here));

/** The local platform's program: as built, or as written where the sources themselves run. */
export const platformProgram: string = here.endsWith(".ts")
  ? join(packageRoot, "src", "platform", "main.ts")
  : join(packageRoot, "dist", "platform", "main.js");

/** The package's version. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8"));
  return isObject(manifest) ? String(manifest["version"]) : "unknown";
}

function above(dir: string): string {
  const parent = dirname(dir);
  return existsSync(join(dir, "package.json")) || parent === dir ? dir : above(parent);
}
