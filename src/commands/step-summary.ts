/** @module Appends to the summary of a step of GitHub Actions. */
import { appendFile, stat } from "node:fs/promises";
import { fileTrouble } from "../files/file-trouble.ts";
import type { Settings } from "../project/settings.ts";
import type { Terminal } from "./terminal.ts";

/** Largest summary of one step in bytes; GitHub drops a larger one as a whole. */
const summaryLimit = 1024 * 1024;

/**
 * Appends to the summary of the step where `GITHUB_STEP_SUMMARY` names its file. `write` gets the number of bytes that are left.
 * A summary that cannot be written is said, and no error: the run is not worse for it.
 */
export async function appendSummary(
  write: (bytes: number) => string,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const file = settings.get("githubStepSummary");
  if (file === undefined) return;
  try {
    const taken = await stat(file).then(
      ({ size }) => size,
      () => 0,
    );
    const text = write(summaryLimit - taken - 1);
    if (Buffer.byteLength(text) + 1 > summaryLimit - taken) {
      terminal.err("warning: the summary of this step is full: the report is not added to it\n");
      return;
    }
    await appendFile(file, `${text}\n`);
  } catch (error) {
    terminal.err(`warning: the summary of this step cannot be written: ${fileTrouble(error)}\n`);
  }
}
