/** @module Writes the outputs and the summary of a step of GitHub Actions. */
import { appendFileSync } from "node:fs";
import { appendFile, stat } from "node:fs/promises";
import { fileTrouble } from "../../files/file-trouble.ts";
import type { Settings } from "../../project/settings.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Outputs by name; undefined ones are left out. */
export interface StepOutputs {
  readonly [name: string]: string | number | boolean | undefined;
}

/**
 * Appends outputs if `GITHUB_OUTPUT` names the file of a step; a later step reads them as `steps.ID.outputs.NAME`. Line breaks become
 * blanks, so that no value can begin another output. Outputs that cannot be written are said, and no error: the run is not worse for it.
 */
export function writeStepOutputs(
  outputs: StepOutputs,
  settings: Settings,
  terminal: Pick<Terminal, "err">,
): void {
  const file = settings.get("githubOutput");
  if (file === undefined) return;
  const lines = Object.entries(outputs).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${String(value).replaceAll(/[\r\n]+/g, " ")}\n`],
  );
  try {
    appendFileSync(file, lines.join(""));
  } catch (error) {
    terminal.err(`warning: the outputs of this step cannot be written: ${fileTrouble(error)}\n`);
  }
}

/** Largest summary of one step in bytes; GitHub drops a larger one as a whole. */
const summaryLimit = 1024 * 1024;

/**
 * Appends to the summary of the step if `GITHUB_STEP_SUMMARY` names its file. `write` gets the number of bytes that are left.
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
