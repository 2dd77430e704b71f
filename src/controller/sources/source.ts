/** @module Reads the files of a manifest. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ControllerConfig } from "../config/config.ts";
import type { ManifestRow } from "../database/schema.ts";

export async function newestCommit(
  manifest: ManifestRow,
  _config: ControllerConfig,
  _signal: AbortSignal,
): Promise<string> {
  return manifest.commit ?? "";
}

export async function checkOut(
  manifest: ManifestRow,
  _commit: string,
  _config: ControllerConfig,
  _signal: AbortSignal,
): Promise<{
  readonly folder: string;
  readonly files: readonly string[];
  readonly remove: () => Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), "graphform-checkout-"));
  const files = Object.entries(manifest.upload ?? {}).map(([path, text]) => ({
    path: join(folder, path),
    text,
  }));
  for (const { path, text } of files) await writeFile(path, text);
  return { folder, files: files.map(({ path }) => path), remove: () => rm(folder, { recursive: true }) };
}
