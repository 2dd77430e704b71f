import { closeSync, ftruncateSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import type { StorageTrouble } from "../model/storage-trouble.ts";

/** A file that lines are added to. What cannot be written is counted, and nobody waits for it. */
export interface LogFile {
  /** Adds lines, all of them or none. */
  add(lines: readonly string[]): void;
  /** Ends it; once. */
  close(): void;
}

/** Above this size a file is set aside, in bytes. */
const largest = 64 * 1024 * 1024;

/**
 * Opens a log for appending; a file above 64 MiB is set aside as `<path>.1`. Lines that were lost while the disk was full are counted in the
 * first line after that. Throws only where it cannot be opened at first.
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
      // A line that was cut short would be no line.
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
