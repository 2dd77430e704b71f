/** @module Replaces the text of a file of the user, unless somebody has changed it meanwhile. */
import { readFile, realpath, stat } from "node:fs/promises";
import { writeAtomically } from "./atomic-write.ts";

const byteOrderMark = "\uFEFF";

/**
 * Replaces the text of a file atomically. Keeps its permissions, its byte order mark, and a link that leads to it. Returns
 * false, and leaves the file as it is, where its text is not `before`. Rejects as node:fs does.
 */
export async function replaceText(file: string, before: string, after: string): Promise<boolean> {
  const target = await realpath(file);
  const { mode } = await stat(target);
  const found = await readFile(target, "utf8");
  const mark = found.startsWith(byteOrderMark) ? byteOrderMark : "";
  if (found.slice(mark.length) !== before) return false;
  await writeAtomically(target, mark + after, undefined, mode & 0o777);
  return true;
}
