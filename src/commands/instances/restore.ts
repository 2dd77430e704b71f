/** @module Restores an instance as a new one, exactly once; lists the events of one; prints the bootstrap of an account. */
import { driverOf } from "../../apply/context.ts";
import { findCreated } from "../../apply/creates/find-created.ts";
import { kinds } from "../../kinds/index.ts";
import { instanceEvents } from "../../kinds/instance-history.ts";
import { describedValues, instanceParams } from "../../kinds/instance-operations.ts";
import type { Address } from "../../model/address.ts";
import { exitCodes, GraphformError, isGraphformError, isServiceError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import { parseTime } from "../../model/quantity.ts";
import type { Call, Service } from "../../model/service.ts";
import type { Bound, Intent } from "../../model/state.ts";
import { type Run, unresolved } from "../../project/open-run.ts";
import { escapeLines, escapeText, jsonText } from "../../report/typeset.ts";
import { boundAt, liveAt } from "../bound-objects.ts";
import { tableText } from "../terminal/table-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type Invocation, type InvocationWith, withRun } from "../with-run.ts";

/** `instance restore ADDRESS --to TIME`: makes a new instance with the data of a bound one at that time. Throws `time-invalid`, `not-offered`. */
export async function instanceRestore(
  invocation: InvocationWith<{ readonly to: string; readonly networkType?: string }>,
  address: string,
): Promise<number> {
  const { to, networkType, json = false } = invocation.options;
  const time = parseTime(to);
  if (time === undefined)
    throw new GraphformError("time-invalid", `--to ${to} is not a valid time`, {
      hint: "write it like 2026-01-31T12:00:00Z",
    });
  return withRun(invocation, { reading: unresolved }, async (run) => {
    const { service, state, signal } = run;
    const operation = "instance.restore";
    if (!service.offers(operation))
      throw new GraphformError(
        "not-offered",
        `profile ${service.profile.name} cannot restore an instance to an earlier time`,
        { hint: "graphform snapshot list shows what can be restored" },
      );
    const { id, place } = boundAt(state, address, "instances");
    const find = await searchForRestored(address, place, run);
    const body = { targetRestoreTime: new Date(time).toISOString(), ...defined({ networkType }) };
    const call = { operation, params: { ...instanceParams(place, service.profile), id }, body };
    const instance = await requestRestore(service, call, address, signal, find);
    printRestore(address, instance, json, invocation.terminal);
    return exitCodes.done;
  });
}

/** `instance events ADDRESS`: prints the events that the service recorded, newest first. Throws `not-offered`. */
export async function listInstanceEvents(invocation: Invocation, address: string): Promise<number> {
  const { options, terminal } = invocation;
  return withRun(invocation, { reading: unresolved }, async ({ service, state, signal }) => {
    if (!service.offers("instance.events"))
      throw new GraphformError("not-offered", `profile ${service.profile.name} shows no events`, {
        hint: "graphform profile show lists what it has",
      });
    const bound = boundAt(state, address, "instances");
    // It shows the password in force, which an event may repeat.
    await describedValues(service, bound, signal).catch(() => undefined);
    const events = await instanceEvents(service, bound.id, signal);
    if (options.json === true) terminal.out(`${jsonText(events.map((event) => ({ ...event })))}\n`);
    else if (events.length === 0) terminal.out("The service shows no events.\n");
    else {
      const rows = events.map(({ time, user, message }) => [time, user ?? "-", message]);
      terminal.out(tableText(["time", "user", "event"], rows, terminal));
    }
    return exitCodes.done;
  });
}

/** `account bootstrap ADDRESS`: prints the service's commands for a person, also for offboarding. Exit 8 while it waits for them. */
export async function accountBootstrap(invocation: Invocation, address: string): Promise<number> {
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

/** Looks for the new instance after an answer that was lost; undefined if nothing was made. Rejects if nothing proves either. */
export type FindRestored = () => Promise<string | undefined>;

/**
 * Sends the request and returns the id of the new instance. If the answer is lost, `find` looks for it. Throws `restore-lost` if
 * nothing was made, and `restore-unknown` if that cannot be proved: a second request would make a second database.
 */
export async function requestRestore(
  service: Pick<Service, "write">,
  call: Call,
  source: string,
  signal: AbortSignal,
  find?: FindRestored,
): Promise<string> {
  try {
    const { values } = await service.write(call, signal);
    return typeof values["id"] === "string" ? values["id"] : "";
  } catch (error) {
    if (!isServiceError(error) || !error.wasSent) throw error;
    // In rare cases a refused restore starts nevertheless, so the hint says to look.
    if (["invalid", "forbidden", "not-found", "conflict"].includes(error.failure)) {
      const refused = `the service refused to restore ${source}: ${error.message}`;
      const hint = "if a new instance appears nevertheless, bind or delete it before you try again";
      throw new GraphformError("restore-refused", refused, { hint, cause: error });
    }
    if (find === undefined || signal.aborted) throw restoreUnknown(source, error);
    const id = await find().catch((doubt: unknown) => {
      if (!isGraphformError(doubt)) throw doubt;
      throw restoreUnknown(source, doubt);
    });
    if (id !== undefined) return id;
    // The service has taken the request, and its answer cannot be read.
    if (error.failure === "shape") throw restoreUnknown(source, error);
    const message = `the service lost the request to restore ${source}, and made nothing: ${error.message}`;
    throw new GraphformError("restore-lost", message, { hint: "run the command again", cause: error });
  }
}

/** Lists the place of an instance before it is restored, and returns the search for the new one: the same proofs as for a lost create. */
async function searchForRestored(
  source: Address,
  place: Bound["place"],
  { service, state, signal: stopping, clock }: Run,
): Promise<FindRestored> {
  const kind = "instances";
  const drivers = new Map(kinds.all.map((each) => [each.name, each.driver(service)]));
  const before = await driverOf({ drivers }, kind).list(place, stopping);
  const dateOf = (name: string): number | undefined => service.date(kinds.named(name).operations.create);
  const date = dateOf(kind);
  const startedAt = new Date(clock.now()).toISOString();
  const intent: Intent = {
    ...{ round: "", digest: "", startedAt, recorded: {}, protect: true, onDelete: "retain", refs: [] },
    ...(date === undefined ? {} : { sentAfter: new Date(date).toISOString() }),
  };
  return async () => {
    // No intent of the state stands for a restore.
    const journal = { state, record: async () => undefined };
    const context = { kinds, drivers, profile: service.profile, clock, journal, stopping, dateOf };
    const lost = { address: source, intent, endedAt: clock.now() };
    const { found } = await findCreated({ kind, place, classKey: "", before }, [lost], context);
    return found[0]?.live.id;
  };
}

export function printRestore(source: string, instance: string, isJson: boolean, terminal: Terminal): void {
  const shown = escapeText(instance, 100);
  const text = `${shown} is being created from ${escapeText(source, 300)}.`;
  terminal.out(`${isJson ? jsonText({ source, instance }) : text}\n`);
  if (!isJson) terminal.err(`declare it, then bind it: graphform import ADDRESS ${shown}\n`);
}

function restoreUnknown(source: string, cause: GraphformError): GraphformError {
  const because = cause.message.replace("the create of", "the restore of");
  const message = `it is not known whether ${source} is being restored: ${because}`;
  const hint =
    "do not try again at once, a second request makes a second instance: graphform drift --unmanaged names those that no address is bound to, also a new one, which lists may show late; then graphform import ADDRESS ID";
  return new GraphformError("restore-unknown", message, { exitCode: cause.exitCode, hint, cause });
}
