/** @module Gives a data folder a random identity that survives restarts. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../files/atomic-write.ts";

/**
 * Writes `<dataDir>/control/id` at the first start. The file is stored with the records, so that a folder whose records were removed
 * becomes another platform.
 */
export async function ensurePlatformId(dataDir: string): Promise<void> {
  const folder = join(dataDir, "control");
  const path = join(folder, "id");
  const known = (await readFile(path, "utf8").catch(() => "")).trim();
  if (/^[0-9a-f]{32}$/.test(known)) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeAtomically(path, `${randomBytes(16).toString("hex")}\n`);
}
