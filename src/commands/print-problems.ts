import type { Problem } from "../model/problem.ts";
import { makePalette } from "../report/palette.ts";
import { problemsText } from "../report/problems-text.ts";
import type { Terminal } from "./terminal.ts";

/** How many warnings are shown in full: one about every resource would hide the rest. */
const most = { validating: 10, otherwise: 3 };

/** Prints every error and the first warnings, and how many more there are. */
export function printValidation(problems: readonly Problem[], terminal: Terminal): void {
  printSome(problems, most.validating, "graphform validate --json", terminal);
}

/** Prints the first few warnings of a command that is not about them; what is as true tomorrow is for validate to say. */
export function printFewWarnings(warnings: readonly Problem[], terminal: Terminal): void {
  const urgent = warnings.filter(({ code }) => code !== "create-only-default");
  printSome(urgent, most.otherwise, "graphform validate", terminal);
}

function printSome(problems: readonly Problem[], limit: number, where: string, terminal: Terminal): void {
  const warnings = problems.filter((problem) => problem.severity === "warning");
  const rest = new Set(warnings.slice(limit));
  const shown = problems.filter((problem) => !rest.has(problem));
  if (shown.length > 0) printProblems(shown, terminal);
  if (rest.size > 0) terminal.err(`and ${rest.size} more warnings: ${where} shows them\n`);
}

/** Prints problems to standard error, as people read them. */
export function printProblems(problems: readonly Problem[], terminal: Terminal): void {
  terminal.err(problemsText(problems, { palette: makePalette(terminal.colour), width: terminal.width }));
}
