/** @module Prints an error for people and maps it to an exit code. */
import { CommanderError } from "commander";
import { exitCodes, type GraphformError, ManifestError, ownError } from "../../model/errors.ts";
import type { Hide } from "../../model/known-secrets.ts";
import type { Terminal } from "./terminal.ts";

/** Prints what was thrown to standard error and returns its exit code. `hide` is for the words of foreign exceptions. */
export async function printThrown(thrown: unknown, terminal: Terminal, hide: Hide): Promise<number> {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.done : exitCodes.error;
  return printError(ownError(thrown, hide), terminal);
}

export async function printError(error: GraphformError, terminal: Terminal): Promise<number> {
  if (error instanceof ManifestError) {
    const { printValidation } = await import("./print-problems.ts");
    printValidation(error.problems, terminal);
    return exitCodes.invalid;
  }
  const { errorText } = await import("../../report/problems.ts");
  terminal.err(errorText(error));
  return error.exitCode;
}
