import type { Problem } from "../model/problem.ts";
import { makePalette } from "../report/palette.ts";
import { problemsText } from "../report/problems-text.ts";
import type { Terminal } from "./terminal.ts";

/** Prints problems to standard error, as people read them. */
export function printProblems(problems: readonly Problem[], terminal: Terminal): void {
  terminal.err(problemsText(problems, { palette: makePalette(terminal.colour), width: terminal.width }));
}
