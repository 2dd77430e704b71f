/** @module Connects a run with the terminal: warnings and requests. */
import type { RunListener } from "../project/session.ts";
import type { ManifestOptions } from "./options.ts";
import { printFewWarnings } from "./terminal/print-problems.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Prints the warnings of a run, and traces its requests on demand. */
export function runListener(options: Pick<ManifestOptions, "trace">, terminal: Terminal): RunListener {
  return {
    warnings: (warnings) => printFewWarnings(warnings, terminal),
    request: requestTrace(options, terminal),
  };
}

/** Writes one line per request: to standard error with --trace, and to the file of --log. */
export function requestTrace(
  options: Pick<ManifestOptions, "trace">,
  terminal: Terminal,
): (request: string) => void {
  return (request) => {
    if (options.trace === true) terminal.err(`${request}\n`);
    terminal.log?.(JSON.stringify({ "@timestamp": new Date().toISOString(), type: "request", request }));
  };
}
