/** @module A restore: it makes a new instance, so it is asked for once. */
import { GraphformError, isServiceError } from "../model/errors.ts";
import type { Call, Service } from "../model/service.ts";
import { escapeText } from "../report/escape.ts";
import { jsonText } from "../report/json-text.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Asks for a restore and returns the id of the new instance. Throws `restore-unknown` where the answer does not say whether it
 * was done: a second request would make a second database.
 */
export async function askForRestore(
  service: Pick<Service, "write">,
  call: Call,
  what: string,
  signal: AbortSignal,
): Promise<string> {
  const { values } = await service.write(call, signal).catch((error: unknown) => {
    throw isServiceError(error) && error.wasSent ? mayBeRestored(what, error) : error;
  });
  return typeof values["id"] === "string" ? values["id"] : "";
}

/** Tells people, or a program, which instance is being made. */
export function restoredText(source: string, made: string, isJson: boolean, terminal: Terminal): void {
  if (isJson) {
    terminal.out(`${jsonText({ source, instance: made })}\n`);
    return;
  }
  terminal.out(`${escapeText(made, 100)} is being made from ${escapeText(source, 300)}.\n`);
  terminal.err(`declare it, then bind it: graphform import ADDRESS ${escapeText(made, 100)}\n`);
}

function mayBeRestored(what: string, cause: Error): GraphformError {
  return new GraphformError(
    "restore-unknown",
    `it is not known whether ${what} is being restored: ${cause.message}`,
    {
      hint: "look for a new instance at the service before you ask again: a second request makes a second one",
      cause,
    },
  );
}
