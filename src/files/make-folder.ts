/** @module Makes a folder and its parents. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isFileError } from "./file-trouble.ts";

/** Uses mode 0700. Node's recursive `mkdir` never ends below `/proc`. */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (isFileError(error, "EEXIST") && (await stat(folder)).isDirectory()) return;
    if (!isFileError(error, "ENOENT") || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await mkdir(folder, { mode: 0o700 }).catch((again: unknown) => {
      if (!isFileError(again, "EEXIST")) throw again;
    });
  }
}
