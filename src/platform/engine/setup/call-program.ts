/** @module Runs the programs that fetch and unpack packages. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { defined } from "../../../model/json.ts";
import { EngineError } from "../engine-error.ts";

const run = promisify(execFile);

/** Longest run of one program, in ms. */
const longest = 600_000;

/** Runs a program in a folder; resolves with its standard output. Rejects with EngineError. */
export type Call = (program: string, args: readonly string[], cwd?: string) => Promise<string>;

/** Creates a function that runs programs with an environment, in a locale whose messages are known. */
export function callIn(env: NodeJS.ProcessEnv): Call {
  const settings = { env: { ...env, LC_ALL: "C.UTF-8" }, timeout: longest, maxBuffer: 64 * 1024 * 1024 };
  return async (program, args, cwd) => {
    try {
      return (await run(program, [...args], { ...settings, ...defined({ cwd }) })).stdout;
    } catch (error) {
      throw new EngineError("engine-missing", `${program} failed: ${complaintOf(error)}`, error);
    }
  };
}

function complaintOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && error.code === "ENOENT") return "there is no such program on this machine";
  if ("killed" in error && error.killed === true) return "it took longer than ten minutes";
  const stderr = "stderr" in error && typeof error.stderr === "string" ? error.stderr : "";
  const complaints = stderr.split("\n").filter((line) => /^(E: |dpkg|tar: |npm error (?!code ))/.test(line));
  return complaints[0]?.replace(/^(E: |npm error )/, "") ?? error.message.split("\n")[0] ?? "";
}
