/** @module Restores an instance to an earlier time as a new instance, and lists the events of one. */
import { instanceEvents } from "../../kinds/instance-history.ts";
import { instanceParams } from "../../kinds/instance-operations.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import { unresolved } from "../../project/open-run.ts";
import { jsonText } from "../../report/json-text.ts";
import { boundAt } from "../bound-objects.ts";
import type { ManifestOptions } from "../options.ts";
import { printRestore, requestRestore, searchForRestored } from "../request-restore.ts";
import { tableText } from "../terminal/table-text.ts";
import { type Invocation, withRun } from "../with-run.ts";

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
  invocation: Invocation<InstanceRestoreOptions>,
  address: string,
): Promise<number> {
  const { to, networkType, json = false } = invocation.options;
  const time = new Date(to);
  if (Number.isNaN(time.getTime()))
    throw new GraphformError("time-invalid", `--to ${to} is not a valid time`, {
      hint: "write it like 2026-01-31T12:00:00Z",
    });
  return withRun(invocation, { reading: unresolved }, async (work) => {
    const { service, state, signal } = work;
    const operation = "instance.restore";
    if (!service.offers(operation))
      throw new GraphformError(
        "not-offered",
        `profile ${service.profile.name} cannot restore an instance to an earlier time`,
        { hint: "graphform snapshot list shows what can be restored" },
      );
    const bound = boundAt(state, address, "instances");
    const { id, place } = bound;
    const find = await searchForRestored(address, bound, work);
    const body = { targetRestoreTime: time.toISOString(), ...defined({ networkType }) };
    const call = { operation, params: { ...instanceParams(place, service.profile), id }, body };
    const instance = await requestRestore(service, call, address, signal, find);
    printRestore(address, instance, json, invocation.terminal);
    return exitCodes.done;
  });
}

/** `instance events ADDRESS`: prints the events that the service recorded, newest first. Throws `not-offered`. */
export async function listInstanceEvents(
  invocation: Invocation<ManifestOptions & { readonly json?: boolean }>,
  address: string,
): Promise<number> {
  const { options, terminal } = invocation;
  return withRun(invocation, { reading: unresolved }, async ({ service, state, signal }) => {
    if (!service.offers("instance.events"))
      throw new GraphformError("not-offered", `profile ${service.profile.name} shows no events`, {
        hint: "graphform profile show lists what it has",
      });
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
