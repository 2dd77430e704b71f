/** @module Selects the environment variables that the local platform gets. */
import type { Environment } from "../../project/settings.ts";

/** Names of the variables. The platform outlives the shell that starts it, so it gets no others, secrets least of all. */
const passedOn = [
  // Paths of programs and files.
  ...["PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH"],
  // Database server and graph module.
  ...["GRAPHFORM_ENGINE", "GRAPHFORM_MODULE"],
  // Node.js: cache of compiled code, time zone and locale.
  ...["NODE_COMPILE_CACHE", "TZ", "LANG", "LC_ALL"],
];

/** The environment for a platform process, taken from that of the command. */
export function platformEnvironment(environment: Environment): { [name: string]: string } {
  return Object.fromEntries(
    passedOn.flatMap((name): [string, string][] => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
