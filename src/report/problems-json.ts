/** @module Formats problems of a manifest, and errors, as JSON. */
import { type GraphformError, isManifestError } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import type { Position, Problem } from "../model/problem.ts";
import { escapeText } from "./escape.ts";
import { excerptSpan } from "./problems-text.ts";

/** The document of `validate --json`, in the shape of Terraform's; `x_graphform` has the stable code of each problem. */
export function problemsJson(problems: readonly Problem[]): JsonObject {
  const errors = problems.filter((problem) => problem.severity === "error").length;
  return {
    format_version: "1.0",
    valid: errors === 0,
    error_count: errors,
    warning_count: problems.length - errors,
    diagnostics: problems.map(diagnosticOf),
  };
}

/** One problem as a diagnostic. Lines and columns count from 1; offsets in the snippet are bytes of its code, from 0. */
export function diagnosticOf(problem: Problem): JsonObject {
  const { file, start, end } = problem.range;
  return {
    severity: problem.severity,
    summary: problem.message,
    detail: problem.hint ?? "",
    range: { filename: file, start: position(start), end: position(end) },
    ...defined({ address: problem.address }),
    ...(problem.excerpt === undefined ? {} : { snippet: snippetOf(problem, problem.excerpt) }),
    x_graphform: { code: problem.code },
  };
}

function position({ line, column }: Position): JsonObject {
  return { line, column };
}

function snippetOf(problem: Problem, code: string): JsonObject {
  const span = excerptSpan(problem) ?? { from: 0, to: code.length };
  return {
    context: problem.address ?? null,
    code,
    start_line: problem.range.start.line,
    highlight_start_offset: bytes(code.slice(0, span.from)),
    highlight_end_offset: bytes(code.slice(0, span.to)),
    values: [],
  };
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** An error as diagnostics: the problems of a manifest with their positions, or one error. */
export function errorDiagnostics(error: GraphformError): readonly JsonObject[] {
  if (isManifestError(error)) return error.problems.map(diagnosticOf);
  const { message, hint = "", code, exitCode } = error;
  return [
    {
      severity: "error",
      summary: escapeText(message),
      detail: escapeText(hint),
      x_graphform: { code, exit_code: exitCode },
    },
  ];
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
  return {
    format_version: "1.0",
    valid: false,
    error_count: diagnostics.length,
    warning_count: 0,
    diagnostics,
  };
}
