/** @module Finds the package's folder of profiles. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The `profiles` folder beside package.json, also from a bundled file. */
export function profileFolder(): string {
  return join(packageRoot(dirname(fileURLToPath(import.meta.url))), "profiles");
}

function packageRoot(folder: string): string {
  const parent = dirname(folder);
  return existsSync(join(folder, "package.json")) || parent === folder ? folder : packageRoot(parent);
}
