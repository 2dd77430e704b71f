/** @module Formats the problems of a manifest as text for people and editors. */
import type { Problem } from "../model/problem.ts";
import { amount } from "./amounts.ts";
import { escapeText } from "./escape.ts";
import { excerptSpan } from "./excerpt-span.ts";
import type { Page } from "./palette.ts";
import { textWidth, wrapIndented } from "./text-width.ts";

/**
 * Each problem as `file:line:column: error: message`, the source line with a mark under the place, and the hint; then the
 * number of problems. Ends with a line break; empty if there are no problems.
 */
export function problemsText(problems: readonly Problem[], page: Page): string {
  if (problems.length === 0) return "";
  const blocks = problems.map((problem) => problemLines(problem, page).join("\n"));
  return `${[...blocks, page.palette.bold(countOf(problems))].join("\n\n")}\n`;
}

function problemLines(problem: Problem, page: Page): readonly string[] {
  const { palette, width } = page;
  const { file, start } = problem.range;
  const tone = problem.severity === "error" ? palette.red : palette.yellow;
  const hint = problem.hint === undefined ? [] : wrapIndented("  hint: ", escapeText(problem.hint), width);
  return [
    `${palette.bold(`${escapeText(file)}:${start.line}:${start.column}:`)} ${tone(`${problem.severity}:`)} ${escapeText(problem.message)}`,
    ...excerptLines(problem, page),
    ...hint.map((line, at) => (at === 0 ? line.replace("hint:", () => palette.cyan("hint:")) : line)),
  ];
}

function excerptLines(problem: Problem, { palette }: Page): readonly string[] {
  const { excerpt, range } = problem;
  if (excerpt === undefined) return [];
  const number = `  ${range.start.line} | `;
  const source = `${palette.dim(number)}${escapeText(excerpt)}`;
  const span = excerptSpan(problem);
  if (span === undefined) return [source];
  const before = " ".repeat(textWidth(escapeText(excerpt.slice(0, span.from))));
  const marks = "^".repeat(Math.max(1, textWidth(escapeText(excerpt.slice(span.from, span.to)))));
  const tone = problem.severity === "error" ? palette.red : palette.yellow;
  return [source, `${palette.dim(`${" ".repeat(number.length - 2)}| `)}${before}${tone(marks)}`];
}

function countOf(problems: readonly Problem[]): string {
  const errors = problems.filter((problem) => problem.severity === "error").length;
  const warnings = problems.length - errors;
  if (warnings === 0) return amount(errors, "problem");
  return errors === 0
    ? amount(warnings, "warning")
    : `${amount(errors, "problem")}, ${amount(warnings, "warning")}`;
}
