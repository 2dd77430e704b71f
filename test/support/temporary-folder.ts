import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const folders = new Set<string>();
let isListening = false;

/**
 * Makes a folder under the system's temporary one: `graphform-NAME-` and six characters. It is removed after the last test of the file that
 * made it, or at the end of a script.
 */
export function temporaryFolder(name: string): string {
  if (!isListening) process.once("exit", removeTemporaryFolders);
  isListening = true;
  const folder = mkdtempSync(join(tmpdir(), `graphform-${name}-`));
  folders.add(folder);
  return folder;
}

/** Removes every folder that this process has made here. */
export function removeTemporaryFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  folders.clear();
}
