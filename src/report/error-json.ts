/** @module Formats an error as the JSON document of a failed plan or validation. */
import { type GraphformError, isManifestError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { escapeText } from "./escape.ts";
import { diagnosticOf } from "./problems-json.ts";

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
