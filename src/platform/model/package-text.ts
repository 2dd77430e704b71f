/** @module Reads files of the package beside the program: profiles, and the parts of the page. */
import { readFile } from "node:fs/promises";

/** The text of a file of the package; searched upwards from this file, in sources and in builds. */
export async function packageText(path: string): Promise<string> {
  for (const up of ["../", "../../", "../../../"]) {
    const text = await readFile(new URL(`${up}${path}`, import.meta.url), "utf8").catch(() => undefined);
    if (text !== undefined) return text;
  }
  throw new Error(`${path} is not beside the program`);
}
