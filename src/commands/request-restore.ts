/** @module Requests a restore exactly once: each accepted request makes a new instance. */
import { GraphformError, isServiceError, type ServiceError } from "../model/errors.ts";
import type { Call, Service } from "../model/service.ts";
import { escapeText } from "../report/escape.ts";
import { jsonText } from "../report/json-text.ts";
import type { Terminal } from "./terminal/terminal.ts";

/**
 * Sends the request and returns the id of the new instance. Throws `restore-unknown` if it was sent and the answer is
 * unclear: a second request would make a second database.
 */
export async function requestRestore(
  service: Pick<Service, "write">,
  call: Call,
  source: string,
  signal: AbortSignal,
): Promise<string> {
  const { values } = await service.write(call, signal).catch((error: unknown) => {
    if (!isServiceError(error) || !error.wasSent) throw error;
    throw isRefusal(error) ? restoreRefused(source, error) : restoreUnknown(source, error);
  });
  return typeof values["id"] === "string" ? values["id"] : "";
}

/** Prints the id of the new instance, as text or JSON. */
export function printRestore(source: string, instance: string, isJson: boolean, terminal: Terminal): void {
  if (isJson) {
    terminal.out(`${jsonText({ source, instance })}\n`);
    return;
  }
  terminal.out(`${escapeText(instance, 100)} is being created from ${escapeText(source, 300)}.\n`);
  terminal.err(`declare it, then bind it: graphform import ADDRESS ${escapeText(instance, 100)}\n`);
}

/** True for a refusal of the service. In rare cases the restore starts all the same, so the hint says to look. */
function isRefusal({ failure }: ServiceError): boolean {
  return ["invalid", "forbidden", "not-found", "conflict"].includes(failure);
}

function restoreRefused(source: string, cause: Error): GraphformError {
  return new GraphformError("restore-refused", `the service refused to restore ${source}: ${cause.message}`, {
    hint: "if a new instance appears all the same, bind or delete it before you try again",
    cause,
  });
}

function restoreUnknown(source: string, cause: Error): GraphformError {
  return new GraphformError(
    "restore-unknown",
    `it is not known whether ${source} is being restored: ${cause.message}`,
    {
      hint: "do not try again at once, a second request makes a second instance: graphform drift --unmanaged names those that no address is bound to, also a new one, which lists may show late; then graphform import ADDRESS ID",
      cause,
    },
  );
}
