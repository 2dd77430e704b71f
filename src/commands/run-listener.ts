/** @module Connects a run with the terminal: warnings and requests. */
import type { RunListener } from "../project/session.ts";
import type { ManifestOptions } from "./options.ts";
import { printFewWarnings } from "./print-problems.ts";
import { requestTrace } from "./request-trace.ts";
import type { Terminal } from "./terminal.ts";

/** Prints the warnings of a run, and traces its requests on demand. */
export function runListener(options: Pick<ManifestOptions, "trace">, terminal: Terminal): RunListener {
  return {
    warnings: (warnings) => printFewWarnings(warnings, terminal),
    request: requestTrace(options, terminal),
  };
}
