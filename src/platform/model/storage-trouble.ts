/** @module Counts writes that failed, since a full disk leaves no log of them. */
import { fileTrouble } from "../../files/file-trouble.ts";
import type { JsonObject } from "../../model/json.ts";
import { ServiceError } from "./service-error.ts";

/** A write to the data folder failed: the client gets a 500, and nothing was changed. */
export class StorageError extends ServiceError {
  constructor(cause: unknown) {
    super(500, `the platform cannot write to its data folder (${fileTrouble(cause)}); nothing was changed`);
  }
}

/** Counters of failed writes. */
export interface StorageTrouble {
  /** Counts a failed write and returns the error for its caller. */
  failed(cause: unknown): StorageError;
  /** Counts lines of the request log that were not written. */
  lost(lines: number, cause: unknown): void;
  /** Counts since the start, and the last reason, for the status. */
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
