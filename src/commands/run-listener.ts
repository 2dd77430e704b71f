/** @module Connects a run with the terminal: secrets, warnings and requests. */
import type { RunListener } from "../project/session.ts";
import type { ManifestOptions } from "./options.ts";
import { printFewWarnings } from "./print-problems.ts";
import { requestTrace } from "./request-trace.ts";
import type { Terminal } from "./terminal.ts";

/** Masks the secrets of a run in all later output, prints its warnings, and traces its requests on demand. */
export function runListener(options: Pick<ManifestOptions, "trace">, terminal: Terminal): RunListener {
  return {
    secrets: (masker) => terminal.redactWith(masker.text),
    warnings: (warnings) => printFewWarnings(warnings, terminal),
    request: requestTrace(options, terminal),
  };
}
