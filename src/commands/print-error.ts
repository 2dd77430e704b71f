/** @module Prints an error for people and maps it to an exit code. */
import { CommanderError } from "commander";
import { exitCodes, isGraphformError, ManifestError } from "../model/errors.ts";
import type { Terminal } from "./terminal.ts";

/** Prints an error to standard error and returns its exit code. */
export async function printError(error: unknown, terminal: Terminal): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.error;
  if (error instanceof ManifestError) {
    const { printValidation } = await import("./print-problems.ts");
    printValidation(error.problems, terminal);
    return exitCodes.invalid;
  }
  const { errorText } = await import("../report/error-text.ts");
  terminal.err(errorText(error));
  return isGraphformError(error) ? error.exitCode : exitCodes.error;
}
