/** @module Prints the problems of a manifest, with a limit on warnings. */
import type { Problem } from "../model/problem.ts";
import { makePalette } from "../report/palette.ts";
import { problemsText } from "../report/problems-text.ts";
import type { Terminal } from "./terminal.ts";

/** Number of warnings that are shown in full: a warning about every resource would hide the others. */
const warningLimits = { validating: 10, otherwise: 3 };

/** Prints every error, the first 10 warnings, and the number of the others. */
export function printValidation(problems: readonly Problem[], terminal: Terminal): void {
  printSome(problems, warningLimits.validating, "graphform validate --json", terminal);
}

/** Prints the first 3 warnings for commands other than validate, without `create-only-default`, which is not urgent. */
export function printFewWarnings(warnings: readonly Problem[], terminal: Terminal): void {
  const urgent = warnings.filter(({ code }) => code !== "create-only-default");
  printSome(urgent, warningLimits.otherwise, "graphform validate", terminal);
}

function printSome(problems: readonly Problem[], limit: number, where: string, terminal: Terminal): void {
  const warnings = problems.filter((problem) => problem.severity === "warning");
  const rest = new Set(warnings.slice(limit));
  const shown = problems.filter((problem) => !rest.has(problem));
  if (shown.length > 0) printProblems(shown, terminal);
  if (rest.size > 0) terminal.err(`and ${rest.size} more warnings: ${where} shows them\n`);
}

/** Prints problems to standard error as text. */
export function printProblems(problems: readonly Problem[], terminal: Terminal): void {
  terminal.err(problemsText(problems, { palette: makePalette(terminal.colour), width: terminal.width }));
}
