/** @module Prints the instructions of a cloud account that a person must follow. */
import { exitCodes } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeLines, escapeText } from "../../report/escape.ts";
import { jsonText } from "../../report/json-text.ts";
import { claimState } from "../../state/claim-state.ts";
import { emptyState } from "../../state/document.ts";
import type { ManifestOptions } from "../options.ts";
import { boundAt, liveAt } from "../service-target.ts";
import { withService } from "../service-work.ts";
import type { Terminal } from "../terminal/terminal.ts";

/**
 * `account bootstrap ADDRESS`: prints the commands that a person must run in the cloud account, as the service gives them; the
 * offboarding commands while the account is being removed. Exit 8 while the service waits for them, otherwise 0.
 */
export async function accountBootstrap(
  address: string,
  options: ManifestOptions & { readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  return withService(options, settings, terminal, async ({ project, service, identity, signal, clock }) => {
    const stored = (await project.store.read()) ?? emptyState(project.header.name);
    const claim = { service: identity, manifest: project.identity, where: project.store.where };
    const state = claimState(stored, claim);
    const bound = boundAt(state, address, "cloudAccounts");
    const live = await liveAt(state, address, { service, clock, signal });
    const { status = null, bootstrap = null, configId = null } = live.outputs;
    const waits = live.phase.is === "waiting-for-person";
    if (options.json === true) {
      terminal.out(`${jsonText({ address, id: bound.id, configId, status, waits, bootstrap })}\n`);
    } else if (typeof bootstrap === "string" && bootstrap !== "") terminal.out(`${escapeLines(bootstrap)}\n`);
    else
      terminal.out(`${escapeText(address, 300)} is ${escapeText(live.phase.detail, 300)}: nothing to run.\n`);
    return waits ? exitCodes.waitingForPerson : exitCodes.done;
  });
}
