/** @module Prints the problems of a manifest, with a limit on warnings. */
import type { Problem } from "../../model/errors.ts";
import { problemsText } from "../../report/problems.ts";
import { makePalette } from "../../report/typeset.ts";
import type { Terminal } from "./terminal.ts";

/** Number of problems that are shown in full: a mistake in every resource would scroll the others away. */
const errorLimit = 100;
/** The same for warnings. */
const warningLimits = { validating: 10, otherwise: 3 };

/** Prints the first 100 errors, the first 10 warnings, and the number of the others. */
export function printValidation(problems: readonly Problem[], terminal: Terminal): void {
  printSome(problems, warningLimits.validating, "graphform validate --json", terminal);
}

/** Prints the first 3 warnings for commands other than validate, without `create-only-default`, which is not urgent. */
export function printFewWarnings(warnings: readonly Problem[], terminal: Terminal): void {
  const urgent = warnings.filter(({ code }) => code !== "create-only-default");
  printSome(urgent, warningLimits.otherwise, "graphform validate", terminal);
}

function printSome(problems: readonly Problem[], limit: number, where: string, terminal: Terminal): void {
  const { error = [], warning = [] } = Object.groupBy(problems, ({ severity }) => severity);
  const rest = new Set([...error.slice(errorLimit), ...warning.slice(limit)]);
  const shown = problems.filter((problem) => !rest.has(problem));
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  if (shown.length > 0) terminal.err(problemsText(shown, page));
  const more = [
    ...(error.length > errorLimit ? [`${error.length - errorLimit} more problems`] : []),
    ...(warning.length > limit ? [`${warning.length - limit} more warnings`] : []),
  ];
  if (more.length > 0) terminal.err(`and ${more.join(" and ")}: ${where} shows them\n`);
}
