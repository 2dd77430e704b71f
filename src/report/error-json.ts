import { isGraphformError, isManifestError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { escapeText } from "./escape.ts";
import { messageOf } from "./events.ts";
import { diagnosticOf } from "./problems-json.ts";

/** Anything that was thrown as diagnostics: the problems of a manifest, each at its place, or the one error. */
function errorDiagnostics(error: unknown): readonly JsonObject[] {
  if (isManifestError(error)) return error.problems.map(diagnosticOf);
  if (!isGraphformError(error))
    return [{ severity: "error", summary: "unexpected error", detail: escapeText(messageOf(error)) }];
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

/** What `plan --json` prints where there is no plan: a plan document that says so, with what is wrong. */
export function erroredPlanJson(error: unknown): JsonObject {
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

/** What `validate --json` prints where something else than the manifest is wrong. */
export function erroredValidationJson(error: unknown): JsonObject {
  const diagnostics = errorDiagnostics(error);
  return {
    format_version: "1.0",
    valid: false,
    error_count: diagnostics.length,
    warning_count: 0,
    diagnostics,
  };
}
