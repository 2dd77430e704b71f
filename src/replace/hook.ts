/** @module Runs the command of a manifest after a switch: its words, without a shell, bounded in time. */
import { spawn } from "node:child_process";

/** Longest time of a hook in ms. */
const longest = 5 * 60_000;

/**
 * Runs a command with its variables besides PATH, HOME and the locale. Resolves with the reason of its failure, or undefined if it ended
 * with 0. Its output is dropped: it may contain secrets.
 */
export function runHook(
  command: readonly string[],
  variables: { readonly [name: string]: string },
  signal: AbortSignal,
  within: number = longest,
): Promise<string | undefined> {
  const [program = "", ...words] = command;
  const kept = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const env = { ...Object.fromEntries(kept), ...variables };
  return new Promise((resolve) => {
    const limit = AbortSignal.timeout(within);
    const child = spawn(program, words, {
      env,
      stdio: "ignore",
      signal: AbortSignal.any([signal, limit]),
      killSignal: "SIGKILL",
    });
    child.on("error", (error) => {
      resolve(
        limit.aborted ? `it did not end within ${within / 1000} s` : `it could not run: ${error.message}`,
      );
    });
    child.on("close", (code, ended) => {
      resolve(code === 0 ? undefined : `it ended with ${code ?? ended ?? "nothing"}`);
    });
  });
}
