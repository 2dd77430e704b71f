/** @module Prints annotations for GitHub Actions. */
import type { Settings } from "../project/settings.ts";
import type { Annotation } from "../report/github/workflow-command.ts";
import type { Terminal } from "./terminal.ts";

/** Prints annotations in a job of GitHub Actions: to standard error, which GitHub reads too: standard output has the result of the command. */
export async function printAnnotations(
  annotations: readonly Annotation[],
  more: string,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  if (settings.get("githubActions") !== "true" || annotations.length === 0) return;
  const { annotationLines } = await import("../report/github/annotation-lines.ts");
  for (const line of annotationLines(annotations, more)) terminal.err(`${line}\n`);
}
