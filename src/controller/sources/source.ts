/** @module Reads the files of a manifest from its source, each time into a folder of its own. */
import { GraphformError } from "../../index.ts";
import type { ControllerConfig } from "../config/config.ts";
import type { ManifestRow, Upload } from "../database/schema.ts";
import { digestOf } from "../digest.ts";
import { type Checkout, inWorkFolder, writeFiles } from "./checkout-folder.ts";
import { checkOutGit, newestGitCommit } from "./git.ts";

/** A manifest, as far as its source needs. `upload`: the files of the commit that is checked out; null if they are gone. */
export type Sourced = Pick<ManifestRow, "tenant" | "source" | "commit"> & { readonly upload: Upload | null };

/** The newest commit of the manifest's ref, or the digest of its newest upload. Throws `source-*`. */
export async function newestCommit(
  { tenant, source, commit }: Omit<Sourced, "upload">,
  config: Pick<ControllerConfig, "git">,
  signal: AbortSignal,
): Promise<string> {
  return source.type === "git" ? newestGitCommit(source, tenant, config, signal) : (commit ?? "");
}

/**
 * Makes a folder with the files of exactly one commit, or of an upload. Nothing of the source runs, and no link leads out of the folder.
 * Throws `source-*`.
 */
export async function checkOut(
  { tenant, source, upload }: Sourced,
  commit: string,
  config: Pick<ControllerConfig, "git">,
  signal: AbortSignal,
): Promise<Checkout> {
  return source.type === "git" ? checkOutGit(source, commit, tenant, config, signal) : checkOutUpload(upload);
}

/** Writes the files of an upload into a folder. Throws `source-gone` without them: they were neither the newest nor the approved ones. */
async function checkOutUpload(files: Upload | null): Promise<Checkout> {
  if (files === null)
    throw new GraphformError("source-gone", "the files of this upload were replaced by a newer one", {
      hint: "approve the plan of the newest upload, or upload the files again",
    });
  return inWorkFolder(async ({ files: folder, remove }) => {
    const texts = Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text, "utf8") }));
    return { folder, files: await writeFiles(folder, texts), remove };
  });
}

/** The digest of an upload: the same for the same files, however they were ordered. */
export function uploadDigest(files: Upload): string {
  const ordered = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  return digestOf(JSON.stringify(ordered)).toString("hex");
}
