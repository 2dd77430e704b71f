/** @module Restores an instance to an earlier time as a new instance. */

import { instanceEvents } from "../../kinds/instance-history.ts";
import { instanceParams } from "../../kinds/instance-operations.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Settings } from "../../project/settings.ts";
import { jsonText } from "../../report/json-text.ts";
import { emptyState } from "../../state/document.ts";
import type { ManifestOptions } from "../options.ts";
import { printRestore, requestRestore } from "../request-restore.ts";
import { boundAt } from "../service-target.ts";
import { withService } from "../service-work.ts";
import { tableText } from "../terminal/table-text.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Options of `instance restore`. */
export interface InstanceRestoreOptions extends ManifestOptions {
  /** Time of the data to restore, ISO 8601. */
  readonly to: string;
  /** Public or internal endpoint of the new instance. */
  readonly networkType?: string;
  readonly json?: boolean;
}

/**
 * `instance restore ADDRESS --to TIME`: creates a new instance with the data of a bound one at that time, and leaves the bound
 * one unchanged. Throws `time-invalid`, or `not-offered` if the profile has no such operation.
 */
export async function instanceRestore(
  address: string,
  options: InstanceRestoreOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const time = new Date(options.to);
  if (Number.isNaN(time.getTime())) {
    throw new GraphformError("time-invalid", `--to ${options.to} is not a valid time`, {
      hint: "write it like 2026-01-31T12:00:00Z",
    });
  }
  return withService(options, settings, terminal, async ({ project, service, signal }) => {
    if (!service.offers("instance.restore")) {
      throw new GraphformError(
        "not-offered",
        `profile ${service.profile.name} cannot restore an instance to an earlier time`,
        {
          hint: "graphform snapshot list shows what can be restored",
        },
      );
    }
    const state = (await project.store.read()) ?? emptyState(project.header.name);
    const { id, place } = boundAt(state, address, "instances");
    const { networkType } = options;
    const body = {
      targetRestoreTime: time.toISOString(),
      ...defined({ networkType }),
    };
    const params = { ...instanceParams(place, service.profile), id };
    const instance = await requestRestore(
      service,
      { operation: "instance.restore", params, body },
      address,
      signal,
    );
    printRestore(address, instance, options.json === true, terminal);
    return exitCodes.done;
  });
}

/** `instance events ADDRESS`: prints the events that the service recorded, newest first. Throws `not-offered`. */
export async function listInstanceEvents(
  address: string,
  options: ManifestOptions & { readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  return withService(options, settings, terminal, async ({ project, service, signal }) => {
    if (!service.offers("instance.events")) {
      throw new GraphformError("not-offered", `profile ${service.profile.name} shows no events`, {
        hint: "graphform profile show lists what it has",
      });
    }
    const state = (await project.store.read()) ?? emptyState(project.header.name);
    const events = await instanceEvents(service, boundAt(state, address, "instances").id, signal);
    if (options.json === true) terminal.out(`${jsonText(events.map((event) => ({ ...event })))}\n`);
    else if (events.length === 0) terminal.out("The service shows no events.\n");
    else {
      const rows = events.map(({ time, user, message }) => [time, user ?? "-", message]);
      terminal.out(tableText(["time", "user", "event"], rows, terminal));
    }
    return exitCodes.done;
  });
}
