/** @module Creates a file without overwriting one. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { GraphformError } from "../model/errors.ts";

/** Writes a new file and its folders. Throws `file-exists` if the file exists, `file-unwritable` if it cannot be written. */
export async function writeNew(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: "wx" });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (code === "EEXIST") {
      throw new GraphformError("file-exists", `${file} exists already and is not overwritten`, {
        hint: "name another file, or move this one away",
      });
    }
    throw new GraphformError("file-unwritable", `cannot write ${file}: ${code}`, { cause: error });
  }
}
