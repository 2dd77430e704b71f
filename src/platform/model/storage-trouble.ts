import { fileTrouble } from "../../files/file-trouble.ts";
import type { JsonObject } from "../../model/json.ts";
import { ServiceError } from "./service-error.ts";

/** Something could not be written down: the client is told so (500), and nothing was changed. */
export class StorageError extends ServiceError {
  constructor(cause: unknown) {
    super(500, `the platform cannot write to its data folder (${fileTrouble(cause)}); nothing was changed`);
  }
}

/** Counts what the platform could not write: a full disk fills no log. */
export interface StorageTrouble {
  /** Counts a write that failed, and makes the error for whoever asked for it. */
  failed(cause: unknown): StorageError;
  /** Counts lines of the request log that nobody will read. */
  lost(lines: number, cause: unknown): void;
  /** The counts of this run, and the last reason, for status. */
  report(): JsonObject;
}

export function createStorageTrouble(): StorageTrouble {
  let [failedWrites, lostLogLines, last] = [0, 0, ""];
  return {
    failed(cause) {
      failedWrites += 1;
      last = fileTrouble(cause);
      return new StorageError(cause);
    },
    lost(lines, cause) {
      lostLogLines += lines;
      last = fileTrouble(cause);
    },
    report: () => ({ failedWrites, lostLogLines, last }),
  };
}
