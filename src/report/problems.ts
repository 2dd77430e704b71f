/** @module Formats errors, and the problems of a manifest, as text and as JSON. */
import { type GraphformError, isManifestError, type Problem } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import { cutStartTo, cutTo, escapeText, type Page, textWidth, wrapIndented } from "./typeset.ts";
import { amount } from "./words.ts";

/** Each problem with its source line, marked, and its hint; then their number. Ends with a line break; empty if there are none. */
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

/** Column at which the excerpt of a long line has its problem, as `manifest/` cuts it. */
const centre = 60;

/** The place of a problem in its excerpt, in UTF-16 units from 0, `to` exclusive; undefined if it is not in an excerpt. */
function excerptSpan({
  excerpt,
  range,
}: Problem): { readonly from: number; readonly to: number } | undefined {
  if (excerpt === undefined) return undefined;
  const column = range.start.column - 1;
  const from = excerpt.startsWith("…") && column > centre ? centre + 1 : column;
  if (from > excerpt.length) return undefined;
  const sameLine = range.end.line === range.start.line;
  const length = sameLine ? range.end.column - range.start.column : excerpt.length - from;
  return { from, to: Math.max(from + 1, Math.min(excerpt.length, from + length)) };
}

/** An error with its hint. Ends with a line break. */
export function errorText({ message, hint }: GraphformError): string {
  const first = `error: ${escapeText(message)}\n`;
  return hint === undefined ? first : `${first}hint: ${escapeText(hint)}\n`;
}

/** Title and verdict of each report that could not be made. */
export const failureWords = {
  plan: { title: "No plan", text: "The plan could not be made. Nothing was changed." },
  drift: {
    title: "Drift is not known",
    text: "The service could not be read. That proves neither drift nor its absence.",
  },
} as const;

/** The document of `validate --json`, in the shape of Terraform's; `x_graphform` has the stable code of each problem. */
export function problemsJson(problems: readonly Problem[]): JsonObject {
  const errors = problems.filter((problem) => problem.severity === "error").length;
  return validationJson(errors, problems.map(diagnosticOf));
}

function validationJson(errors: number, diagnostics: readonly JsonObject[]): JsonObject {
  const counts = { error_count: errors, warning_count: diagnostics.length - errors };
  return { format_version: "1.0", valid: errors === 0, ...counts, diagnostics };
}

/** One problem as a diagnostic. Lines and columns count from 1; offsets in the snippet are bytes of its code, from 0. */
export function diagnosticOf(problem: Problem): JsonObject {
  const { file, start, end } = problem.range;
  return {
    severity: problem.severity,
    summary: problem.message,
    detail: problem.hint ?? "",
    range: { filename: file, start: { ...start }, end: { ...end } },
    ...defined({ address: problem.address }),
    ...(problem.excerpt === undefined ? {} : { snippet: snippetOf(problem, problem.excerpt) }),
    x_graphform: { code: problem.code },
  };
}

function snippetOf(problem: Problem, code: string): JsonObject {
  const span = excerptSpan(problem) ?? { from: 0, to: code.length };
  return {
    context: problem.address ?? null,
    code,
    start_line: problem.range.start.line,
    highlight_start_offset: Buffer.byteLength(code.slice(0, span.from)),
    highlight_end_offset: Buffer.byteLength(code.slice(0, span.to)),
    values: [],
  };
}

/** An error as diagnostics: the problems of a manifest with their positions, or one error. */
export function errorDiagnostics(error: GraphformError): readonly JsonObject[] {
  if (isManifestError(error)) return error.problems.map(diagnosticOf);
  return [errorDiagnostic(error)];
}

export function errorDiagnostic({ message, hint, code, exitCode }: GraphformError): JsonObject {
  return noticeOf("error", message, hint, { x_graphform: { code, exit_code: exitCode } });
}

/** A diagnostic without a position in the manifest. */
export function noticeOf(
  severity: Problem["severity"],
  summary: string,
  detail = "",
  more: JsonObject = {},
): JsonObject {
  return { severity, ...more, summary: escapeText(summary), detail: escapeText(detail) };
}

/** The document of `plan --json` if planning failed: `errored` is true, and the problems are listed. */
export function erroredPlanJson(error: GraphformError): JsonObject {
  return {
    format_version: "1.2",
    applyable: false,
    complete: false,
    errored: true,
    resource_changes: [],
    resource_drift: [],
    output_changes: {},
    x_graphform: { problems: errorDiagnostics(error) },
  };
}

/** The document of `validate --json` if something other than the manifest is wrong. */
export function erroredValidationJson(error: GraphformError): JsonObject {
  const diagnostics = errorDiagnostics(error);
  return validationJson(diagnostics.length, diagnostics);
}
