/** @module Reads the files of a manifest that was uploaded. */
import { createHash } from "node:crypto";
import { GraphformError } from "../../index.ts";
import type { Upload } from "../database/schema.ts";
import { assertFileName, assertSizes, type Checkout, inWorkFolder, writeFiles } from "./checkout-folder.ts";

/** The digest of an upload: the same for the same files, however they were ordered. */
export function uploadDigest(files: Upload): string {
  const ordered = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(ordered)).digest("hex");
}

/** Throws `source-refused` for an upload that could not be checked out. */
export function assertUpload(files: Upload): void {
  for (const name of Object.keys(files)) assertFileName(name);
  assertSizes(Object.entries(files).map(([name, text]) => ({ name, size: Buffer.byteLength(text) })));
}

/** Writes the files of an upload into a folder. Throws `source-gone` if they are not those that are asked for. */
export async function checkOutUpload(files: Upload, isAskedFor: boolean): Promise<Checkout> {
  if (!isAskedFor)
    throw new GraphformError("source-gone", "the files of this upload were replaced by a newer one", {
      hint: "approve the plan of the newest upload, or upload the files again",
    });
  assertUpload(files);
  return inWorkFolder(async ({ files: folder, remove }) => {
    const texts = Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text, "utf8") }));
    return { folder, files: await writeFiles(folder, texts), remove };
  });
}
