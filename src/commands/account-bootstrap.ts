/** @module Prints the instructions of a cloud account that a person must follow. */
import { exitCodes } from "../model/errors.ts";
import { unresolved } from "../project/open-run.ts";
import { escapeLines, escapeText } from "../report/escape.ts";
import { jsonText } from "../report/json-text.ts";
import { boundAt, liveAt } from "./bound-objects.ts";
import type { ManifestOptions } from "./options.ts";
import { type Invocation, withRun } from "./with-run.ts";

/**
 * `account bootstrap ADDRESS`: prints the commands that a person must run in the cloud account, as the service gives them; the
 * offboarding commands while the account is being removed. Exit 8 while the service waits for them, otherwise 0.
 */
export async function accountBootstrap(
  invocation: Invocation<ManifestOptions & { readonly json?: boolean }>,
  address: string,
): Promise<number> {
  const { options, terminal } = invocation;
  return withRun(invocation, { reading: unresolved }, async (run) => {
    const { id } = boundAt(run.state, address, "cloudAccounts");
    const { outputs, phase } = await liveAt(address, run);
    const { status = null, bootstrap = null, configId = null } = outputs;
    const waits = phase.is === "waiting-for-person";
    if (options.json === true)
      terminal.out(`${jsonText({ address, id, configId, status, waits, bootstrap })}\n`);
    else if (typeof bootstrap === "string" && bootstrap !== "") terminal.out(`${escapeLines(bootstrap)}\n`);
    else terminal.out(`${escapeText(address, 300)} is ${escapeText(phase.detail, 300)}: nothing to run.\n`);
    return waits ? exitCodes.waitingForPerson : exitCodes.done;
  });
}
