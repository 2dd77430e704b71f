/** @module Formats errors, and the problems of a manifest, as text for people and editors. */

import type { GraphformError } from "../model/errors.ts";
import type { Problem } from "../model/problem.ts";
import { escapeText } from "./escape.ts";
import { makePalette, type Page, type Palette } from "./palette.ts";
import { cutStartTo, cutTo, textWidth, wrapIndented } from "./text-width.ts";
import { amount } from "./words.ts";

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

function excerptLines(problem: Problem, { palette, width }: Page): readonly string[] {
  const { excerpt, range } = problem;
  if (excerpt === undefined) return [];
  const number = `  ${range.start.line} | `;
  const room = Math.max(20, width - number.length);
  const span = excerptSpan(problem);
  if (span === undefined) return [`${palette.dim(number)}${cutTo(escapeText(excerpt), room)}`];
  const before = escapeText(excerpt.slice(0, span.from));
  const marked = escapeText(excerpt.slice(span.from, span.to));
  const after = escapeText(excerpt.slice(span.to));
  const left = Math.max(Math.floor(room / 2), room - textWidth(marked) - textWidth(after));
  const lead = cutStartTo(before, left);
  const rest = cutTo(marked + after, room - textWidth(lead));
  const marks = "^".repeat(Math.max(1, Math.min(textWidth(marked), textWidth(rest))));
  const tone = problem.severity === "error" ? palette.red : palette.yellow;
  const gutter = palette.dim(`${" ".repeat(number.length - 2)}| `);
  return [`${palette.dim(number)}${lead}${rest}`, `${gutter}${" ".repeat(textWidth(lead))}${tone(marks)}`];
}

function countOf(problems: readonly Problem[]): string {
  const errors = problems.filter((problem) => problem.severity === "error").length;
  const warnings = problems.length - errors;
  if (warnings === 0) return amount(errors, "problem");
  return errors === 0
    ? amount(warnings, "warning")
    : `${amount(errors, "problem")}, ${amount(warnings, "warning")}`;
}

/** Position of a problem in its excerpt, in UTF-16 units from 0; `to` is exclusive. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Column at which the excerpt of a long line has its problem, as `manifest/` cuts it. */
const centre = 60;

/**
 * Returns the span to mark. Undefined if there is no excerpt, or if the problem is outside of it.
 */
export function excerptSpan({ excerpt, range }: Problem): Span | undefined {
  if (excerpt === undefined) return undefined;
  const from = offsetIn(excerpt, range.start.column - 1);
  if (from > excerpt.length) return undefined;
  const sameLine = range.end.line === range.start.line;
  const length = sameLine ? range.end.column - range.start.column : excerpt.length - from;
  return { from, to: Math.max(from + 1, Math.min(excerpt.length, from + length)) };
}

function offsetIn(excerpt: string, column: number): number {
  return excerpt.startsWith("…") && column > centre ? centre + 1 : column;
}

/** An error with its hint. Ends with a line break. */
export function errorText({ message, hint }: GraphformError, palette: Palette = makePalette(false)): string {
  const first = `${palette.red("error:")} ${escapeText(message)}\n`;
  return hint === undefined ? first : `${first}${palette.cyan("hint:")} ${escapeText(hint)}\n`;
}

/** Title and verdict of each report that could not be made. */
export const failureWords = {
  plan: { title: "No plan", text: "The plan could not be made. Nothing was changed." },
  drift: {
    title: "Drift is not known",
    text: "Nobody could look. That proves nothing: neither drift nor its absence.",
  },
} as const;
