/** @module Sends a create until its object is known; nothing but a confirmed id counts as an answer. */
import { longestSearch } from "../../model/consistency.ts";
import { GraphformError, ServiceError, withEvidence } from "../../model/errors.ts";
import type { Step } from "../../model/plan.ts";
import { formatDuration } from "../../model/quantity.ts";
import type { StateEvent } from "../../model/state-event.ts";
import type { ApplyContext } from "../context.ts";
import { asServiceError, mayPass, submit } from "../engine/submit.ts";
import { progressOf, timeoutOf } from "../engine/wait-for-operation.ts";
import type { CreateClass, Created, CreateRequest } from "./create-request.ts";

/** The most times that a create is sent. A service that only says "not now" is asked until time is up. */
const attempts = 4;

/**
 * Creates one object. The intent is durable before the request is sent, the id before anything else happens; every answer but a
 * confirmed one is resolved by listing before the create is sent again.
 */
export async function sendCreate(request: CreateRequest, context: ApplyContext): Promise<Created> {
  const { step, classKey } = request;
  const { clock, profile } = context;
  const started = clock.now();
  const reportLook = (error: ServiceError): void => {
    const longest = formatDuration(longestSearch(profile.timing));
    const detail = `${error.message}; looking whether it was made (up to ${longest})`;
    context.emit(progressOf(step, clock.now() - started, detail));
  };
  return submit(
    {
      attempt: async () => {
        const sent = await sendOnce(request, context.classFor(classKey), context, reportLook);
        if (sent.is === "accepted") return sent;
        if (!mayPass.includes(sent.error.failure)) throw sent.error;
        return { ...sent, endedAt: clock.now() };
      },
      timeout: timeoutOf(step, "create", context),
      isSpent: ({ refusals }) => refusals >= attempts,
      exhausted: ({ error }) => (needsSearch(error) ? createLost(step, error) : error),
      pause: ({ error }, { refusals }) =>
        needsSearch(error) ? 0 : profile.timing.poll.longest * Math.max(1, refusals),
    },
    context,
  );
}

/** A refusal is no proof that nothing was made. */
const keptOpen =
  "mend what the service refuses, then run apply again: first it looks whether the service made something all the same";

type Sent =
  | { readonly is: "accepted"; readonly value: Created }
  /** It never left, a search proved that it made nothing, or a refusal ends the sending: its intent stays open, for it may have made something. */
  | { readonly is: "rejected"; readonly error: ServiceError };

/** Sends a create once, and resolves an answer that is not an id. */
async function sendOnce(
  request: CreateRequest,
  createClass: CreateClass,
  context: ApplyContext,
  onUnknown: (error: ServiceError) => void,
): Promise<Sent> {
  const { step, send } = request;
  const announced = await createClass.enter(request);
  try {
    // Nothing was sent yet, so an interrupted create has made nothing.
    if (context.stopping.aborted) {
      await context.journal.record({ type: "create-abandoned", address: step.address });
      throw context.stopping.reason;
    }
    context.clock.startLimit?.();
    const answer = await send().catch((thrown: unknown) => asServiceError(thrown, "create", context));
    if (typeof answer === "string" && (await createClass.acknowledge(announced, answer)))
      return { is: "accepted", value: { ...announced, id: answer, unsure: [] } };
    const error = typeof answer === "string" ? notOurs(step, answer) : answer;
    if (!needsSearch(error)) {
      await context.journal.record({ type: "create-abandoned", address: step.address });
      if (context.stopping.aborted) throw error;
      return { is: "rejected", error };
    }
    if (context.aborting.aborted) throw error;
    const endedAt = context.clock.now();
    if (!error.mayHaveWorked) {
      await context.journal.record(refusal(step, endedAt, context));
      if (!mayPass.includes(error.failure)) {
        createClass.leaveOpen(announced, endedAt);
        return { is: "rejected", error: withEvidence(error, { hint: error.hint ?? keptOpen }) };
      }
    }
    onUnknown(error);
    const found = await createClass.resolve(announced, endedAt);
    if (found === undefined) return { is: "rejected", error };
    return { is: "accepted", value: { ...announced, ...found } };
  } finally {
    createClass.leave(announced);
  }
}

/** True unless a create surely made nothing because it never left this process. An error or a refusal is no proof. */
export function needsSearch({ wasSent }: ServiceError): boolean {
  return wasSent;
}

function refusal({ address, kind }: Step, now: number, { dateOf }: ApplyContext): StateEvent {
  const date = dateOf(kind);
  const sentBefore = date === undefined ? {} : { sentBefore: new Date(date).toISOString() };
  return { type: "create-refused", address, at: new Date(now).toISOString(), ...sentBefore };
}

function notOurs({ address }: Step, id: string): ServiceError {
  const message = `the answer to the create of ${address} names ${id}, which was there before or is another one's`;
  return new ServiceError("shape", "create", message, { mayHaveWorked: true });
}

function createLost({ address }: Step, cause: ServiceError): GraphformError {
  const message = `the service lost the create of ${address} ${attempts} times: ${cause.message}`;
  const hint = "nothing was created; run apply again when the service is well";
  return new GraphformError("create-lost", message, { hint, cause });
}
