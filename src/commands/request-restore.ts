/** @module A restore: it makes a new instance, so it is asked for once. */
import { GraphformError, isServiceError, type ServiceError } from "../model/errors.ts";
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
    if (!isServiceError(error) || !error.wasSent) throw error;
    throw isRefusal(error) ? restoreRefused(what, error) : mayBeRestored(what, error);
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

/** A refusal in the service's own words. It is hardly ever wrong, and a second look costs nothing. */
function isRefusal({ failure }: ServiceError): boolean {
  return ["invalid", "forbidden", "not-found", "conflict"].includes(failure);
}

function restoreRefused(what: string, cause: Error): GraphformError {
  return new GraphformError("restore-refused", `the service refused to restore ${what}: ${cause.message}`, {
    hint: "should a new instance show up all the same, bind or delete it before you ask again",
    cause,
  });
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
