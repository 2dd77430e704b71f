/** @module Describes errors of the file system. */
import { getSystemErrorMessage } from "node:util";

/** True for an error of the file system, of this code if one is named. */
export function isFileError(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && (codes.length === 0 || codes.includes(code));
}

/** The result of work on a file; undefined if there is no such file. */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isFileError(error, "ENOENT")) return undefined;
    throw error;
  });
}

/** The message of the system without paths: `no space left on device`. */
export function fileTrouble(error: unknown): string {
  if (isFileError(error) && error.errno !== undefined) return getSystemErrorMessage(error.errno);
  return error instanceof Error ? error.message : String(error);
}
