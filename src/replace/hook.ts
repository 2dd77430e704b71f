/** @module Runs the command of a manifest after a switch: its words, without a shell, bounded in time. */
import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, resolve as resolvePath } from "node:path";

/** True if a program can be run from the current folder: by its path, or by its name in PATH. */
export async function canRun(program: string): Promise<boolean> {
  const folders = program.includes("/") ? [""] : (process.env["PATH"] ?? "").split(delimiter);
  const looks = folders.map((folder) => access(resolvePath(folder, program), constants.X_OK));
  return (await Promise.allSettled(looks)).some(({ status }) => status === "fulfilled");
}

/**
 * Runs a command with its variables besides PATH, HOME and the locale. Resolves with the reason of its failure, or undefined if it ended
 * with 0. SIGTERM ends it when the run is to stop, SIGKILL when the run is aborted or the time is over. Its output is dropped: it may
 * contain secrets.
 */
export function runHook(
  command: readonly string[],
  variables: { readonly [name: string]: string },
  { stopping, aborting }: { readonly stopping: AbortSignal; readonly aborting: AbortSignal },
  /** Longest time in ms. */
  within: number = 5 * 60_000,
): Promise<string | undefined> {
  const [program = "", ...words] = command;
  const kept = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"].map((name) => [name, process.env[name]] as const);
  const env = { ...Object.fromEntries(kept), ...variables };
  return new Promise((resolve) => {
    const limit = AbortSignal.timeout(within);
    // A group of its own: what the command has started is ended with it, unless the command ends by itself.
    const child = spawn(program, words, { env, stdio: "ignore", detached: true });
    const endOn = (over: AbortSignal, signal: NodeJS.Signals): void => {
      const end = (): void => {
        const isRunning = child.exitCode === null && child.signalCode === null;
        if (child.pid !== undefined && isRunning) process.kill(-child.pid, signal);
      };
      if (over.aborted) end();
      over.addEventListener("abort", end, { once: true });
    };
    endOn(stopping, "SIGTERM");
    endOn(AbortSignal.any([aborting, limit]), "SIGKILL");
    child.on("error", (error) => resolve(`it could not run: ${error.message}`));
    child.on("close", (code, ended) => {
      const late = limit.aborted && `it did not end within ${within / 1000} s`;
      resolve(code === 0 ? undefined : late || `it ended with ${code ?? ended}`);
    });
  });
}
