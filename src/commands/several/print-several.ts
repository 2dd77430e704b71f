/** @module Prints the results of several manifests: each under its folder, and a line for each at the end. */
import { escapeText } from "../../report/escape.ts";
import { makePalette } from "../../report/palette.ts";
import type { ManifestResult } from "../../report/several/manifest-result.ts";
import { countSeveral, severalLine } from "../../report/several/several-line.ts";
import type { SeveralReport } from "../../report/several/several-markdown.ts";
import { printError } from "../print-error.ts";
import type { Terminal } from "../terminal.ts";

/** Texts of one result. */
interface Texts<T> extends Pick<SeveralReport<T>, "report" | "differs" | "line"> {
  /** The whole result; ends with a line break. */
  readonly text: (value: T) => string;
}

/** Prints results to standard output, and errors to standard error. The last line has a stable form. */
export async function printSeveral<T>(
  results: readonly ManifestResult<T>[],
  { report, differs, line, text }: Texts<T>,
  terminal: Terminal,
): Promise<void> {
  const { bold } = makePalette(terminal.colour);
  for (const result of results) {
    const title = `${bold(`In ${escapeText(result.folder, 300)}`)}\n\n`;
    if (result.is === "made") terminal.out(`${title}${text(result.value)}\n`);
    else {
      terminal.err(title);
      await printError(result.error, terminal);
      terminal.err("\n");
    }
  }
  const width = Math.max(...results.map(({ folder }) => folder.length));
  for (const result of results) {
    const said = result.is === "made" ? line(result.value) : `failed: ${result.error.message}`;
    terminal.out(`${escapeText(result.folder.padEnd(width), 300)}  ${escapeText(said, 300)}\n`);
  }
  const what = report === "plan" ? "changes" : "drift";
  terminal.out(`${bold(severalLine(countSeveral(results, differs), what))}\n`);
}
