import type { RunListener } from "../project/session.ts";
import type { ManifestOptions } from "./options.ts";
import { printFewWarnings } from "./print-problems.ts";
import { traceOf } from "./request-trace.ts";
import type { Terminal } from "./terminal.ts";

/** Hears of a run for a terminal: masks what it prints from then on, shows warnings, and tells of requests where it is asked to. */
export function runListener(options: Pick<ManifestOptions, "trace">, terminal: Terminal): RunListener {
  return {
    secrets: (masker) => terminal.redactWith(masker.text),
    warnings: (warnings) => printFewWarnings(warnings, terminal),
    request: traceOf(options, terminal),
  };
}
