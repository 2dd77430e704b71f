/** @module Finds and reads the files of the package, in sources and in builds. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder with package.json, also when this file is part of a bundle. */
export const packageRoot: string = above(dirname(fileURLToPath(import.meta.url)));

/** The text of a file of the package, such as one of `templates` or `schemas`. */
export function packageFile(path: string): string {
  return readFileSync(join(packageRoot, path), "utf8");
}

function above(folder: string): string {
  const parent = dirname(folder);
  return existsSync(join(folder, "package.json")) || parent === folder ? folder : above(parent);
}
