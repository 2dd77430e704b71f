/** @module Reads the files of a manifest from its source, each time into a folder of its own. */
import type { ControllerConfig } from "../config/config.ts";
import type { ManifestRow } from "../database/schema.ts";
import type { Checkout } from "./checkout-folder.ts";
import { checkOutGit, newestGitCommit } from "./git.ts";
import { checkOutUpload, uploadDigest } from "./upload.ts";

/** A manifest, as far as its source needs. */
export type Sourced = Pick<ManifestRow, "tenant" | "source" | "upload" | "commit">;

/** The newest commit of the manifest's ref, or the digest of its newest upload. Throws `source-*`. */
export async function newestCommit(
  { tenant, source, upload, commit }: Sourced,
  config: Pick<ControllerConfig, "git">,
  signal: AbortSignal,
): Promise<string> {
  if (source.type === "git") return newestGitCommit(source, tenant, config, signal);
  return commit ?? uploadDigest(upload ?? {});
}

/**
 * Makes a folder with the files of exactly one commit, or of the upload with that digest. Nothing of the source runs, and no link leads out
 * of the folder. Throws `source-*`.
 */
export async function checkOut(
  manifest: Sourced,
  commit: string,
  config: Pick<ControllerConfig, "git">,
  signal: AbortSignal,
): Promise<Checkout> {
  const { tenant, source, upload } = manifest;
  if (source.type === "git") return checkOutGit(source, commit, tenant, config, signal);
  return checkOutUpload(upload ?? {}, commit === (await newestCommit(manifest, config, signal)));
}
