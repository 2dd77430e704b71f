import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The package's `profiles` folder, from wherever this file was bundled to: beside package.json. */
export function profileFolder(): string {
  return join(packageRoot(dirname(fileURLToPath(import.meta.url))), "profiles");
}

function packageRoot(folder: string): string {
  const parent = dirname(folder);
  return existsSync(join(folder, "package.json")) || parent === folder ? folder : packageRoot(parent);
}
