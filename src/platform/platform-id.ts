import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../files/atomic-write.ts";

/**
 * Gives a data folder its identity, in `<dataDir>/control/id`: random, made at the first start, the same at every port. It
 * lies with the records, so that a folder whose records were wiped is another platform.
 */
export async function ensurePlatformId(dataDir: string): Promise<void> {
  const folder = join(dataDir, "control");
  const path = join(folder, "id");
  const known = (await readFile(path, "utf8").catch(() => "")).trim();
  if (/^[0-9a-f]{32}$/.test(known)) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeAtomically(path, `${randomBytes(16).toString("hex")}\n`);
}
