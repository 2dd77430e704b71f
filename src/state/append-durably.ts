/** @module Appends to a file durably, and notices another writer. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { isStill } from "./lock-file.ts";

/**
 * Adds a text to the end of a file of that size in bytes, and resolves with true once it is durable; with false where the
 * file is of another size, or another one stands in its place once it is done: somebody else has written there.
 */
export async function appendDurably(file: string, text: string, size: number): Promise<boolean> {
  // Never made here: a file that is gone is noticed.
  const handle = await open(file, constants.O_WRONLY | constants.O_APPEND);
  try {
    if ((await handle.stat()).size !== size) return false;
    await handle.writeFile(text, "utf8");
    await handle.datasync();
    return await isStill(file, handle);
  } finally {
    await handle.close();
  }
}
