/** @module Requests a restore exactly once: each accepted request makes a new instance. */
import { driverOf } from "../apply/context.ts";
import { findCreated } from "../apply/creates/find-created.ts";
import { kinds } from "../kinds/index.ts";
import type { Address } from "../model/address.ts";
import { GraphformError, isGraphformError, isServiceError, type ServiceError } from "../model/errors.ts";
import type { Call, Service } from "../model/service.ts";
import type { Bound, Intent } from "../model/state.ts";
import type { Run } from "../project/open-run.ts";
import { escapeText } from "../report/escape.ts";
import { jsonText } from "../report/json-text.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Looks for the new instance after an answer that was lost; undefined if nothing was made. Rejects if nothing proves either. */
export type FindRestored = () => Promise<string | undefined>;

/**
 * Sends the request and returns the id of the new instance. If the answer is lost, `find` looks for it. Throws `restore-lost` if
 * nothing was made, and `restore-unknown` if nothing proves what was: a second request would make a second database.
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
    if (isRefusal(error)) throw restoreRefused(source, error);
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
export async function searchForRestored(
  source: Address,
  { place }: Pick<Bound, "place">,
  { service, state, signal: stopping, clock }: Pick<Run, "service" | "state" | "signal" | "clock">,
): Promise<FindRestored> {
  const kind = "instances";
  const drivers = new Map(kinds.all.map((each) => [each.name, each.driver(service)]));
  const before = await driverOf({ drivers }, kind).list(place, stopping);
  const dateOf = (name: string): number | undefined => service.date(kinds.named(name).operations.create);
  const date = dateOf(kind);
  const intent: Intent = {
    round: "",
    digest: "",
    startedAt: new Date(clock.now()).toISOString(),
    ...(date === undefined ? {} : { sentAfter: new Date(date).toISOString() }),
    recorded: {},
    protect: true,
    onDelete: "retain",
    refs: [],
  };
  return async () => {
    const context = { kinds, drivers, profile: service.profile, clock, journal: { state }, stopping, dateOf };
    const lost = { address: source, intent, endedAt: clock.now() };
    const { found } = await findCreated({ kind, place, classKey: "", before }, [lost], context);
    return found[0]?.live.id;
  };
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

function restoreUnknown(source: string, cause: GraphformError): GraphformError {
  const because = cause.message.replace("the create of", "the restore of");
  return new GraphformError(
    "restore-unknown",
    `it is not known whether ${source} is being restored: ${because}`,
    {
      exitCode: cause.exitCode,
      hint: "do not try again at once, a second request makes a second instance: graphform drift --unmanaged names those that no address is bound to, also a new one, which lists may show late; then graphform import ADDRESS ID",
      cause,
    },
  );
}
