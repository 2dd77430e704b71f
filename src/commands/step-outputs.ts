/** @module Writes the outputs of a step of GitHub Actions. */
import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileTrouble } from "../files/file-trouble.ts";
import type { Settings } from "../project/settings.ts";
import type { Terminal } from "./terminal.ts";

/** Outputs by name; undefined ones are left out. */
export interface StepOutputs {
  readonly [name: string]: string | number | boolean | undefined;
}

/**
 * Appends outputs where `GITHUB_OUTPUT` names the file of a step; a later step reads them as `steps.ID.outputs.NAME`. Line breaks become
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

/** The absolute path of a report: a later step may run in another folder. */
export function absolute(file: string | undefined): string | undefined {
  return file === undefined ? undefined : resolve(file);
}
