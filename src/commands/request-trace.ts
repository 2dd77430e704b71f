import type { ManifestOptions } from "./options.ts";
import type { Terminal } from "./terminal.ts";

/** Tells of each request: on standard error with --trace, in the file of --log. */
export function traceOf(
  options: Pick<ManifestOptions, "trace">,
  terminal: Terminal,
): (request: string) => void {
  return (request) => {
    if (options.trace === true) terminal.err(`${request}\n`);
    terminal.log?.(JSON.stringify({ "@timestamp": new Date().toISOString(), type: "request", request }));
  };
}
