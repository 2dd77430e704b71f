/** @module Prints the warning that a lock could not be given back. */
import { escapeText } from "../report/escape.ts";
import type { Terminal } from "./terminal.ts";

/** A function that prints a warning about a lock on standard error, which has no result in it. */
export function lockWarning({ err }: Pick<Terminal, "err">): (message: string) => void {
  return (message) => err(`Warning: ${escapeText(message)}\n`);
}
