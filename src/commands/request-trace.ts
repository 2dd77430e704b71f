/** @module Traces the requests of a run. */
import type { ManifestOptions } from "./options.ts";
import type { Terminal } from "./terminal.ts";

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
