/** @module Appends lines to a log file that may not stop the platform when the disk is full. */
import { closeSync, ftruncateSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import type { StorageTrouble } from "../model/storage-trouble.ts";

/** A log file. A failed write is counted; it neither throws nor blocks. */
export interface LogFile {
  /** Appends lines, all or none. */
  add(lines: readonly string[]): void;
  /** Closes the file. Call it once. */
  close(): void;
}

/** Size in bytes above which the file is rotated. */
const largest = 64 * 1024 * 1024;

/**
 * Opens a log for appending; a file above 64 MiB is moved to `<path>.1`. Lines lost on a full disk are counted in the next line that
 * is written. Throws only where the file cannot be opened at first.
 */
export function openLogFile(path: string, trouble: StorageTrouble): LogFile {
  let file = open(path);
  let lost = 0;

  const write = (text: string): void => {
    const bytes = Buffer.from(text);
    try {
      if (writeSync(file.fd, bytes) < bytes.length) throw new Error("no space left on device");
      file = { ...file, size: file.size + bytes.length };
    } catch (error) {
      // A partial line is removed, so that every line is whole.
      ftruncateSync(file.fd, file.size);
      throw error;
    }
  };

  return {
    add(lines) {
      if (lines.length === 0) return;
      try {
        if (file.size > largest) {
          const next = open(path);
          closeSync(file.fd);
          file = next;
        }
        const gap = lost === 0 ? "" : `${JSON.stringify({ lost })}\n`;
        write(gap + lines.join(""));
        lost = 0;
      } catch (error) {
        lost += lines.length;
        trouble.lost(lines.length, error);
      }
    },
    close: () => closeSync(file.fd),
  };
}

interface OpenFile {
  readonly fd: number;
  readonly size: number;
}

function open(path: string): OpenFile {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largest) renameSync(path, `${path}.1`);
  return { fd: openSync(path, "a", 0o600), size: size > largest ? 0 : size };
}
