/** @module Sends a create until its object is known; nothing but a confirmed id counts as an answer. */
import { GraphformError, ServiceError } from "../../model/errors.ts";
import type { Step } from "../../model/plan.ts";
import type { ApplyContext } from "../context.ts";
import { progressOf } from "../engine/converge.ts";
import { asServiceError, notNow } from "../engine/lost-answer.ts";
import { timeoutOf } from "../engine/wait-for-operation.ts";
import type { CreateClass, Created, CreateRequest } from "./create-request.ts";

/** The most times that a create is sent. A service that only says "not now" is asked until time is up. */
const attempts = 4;

/**
 * Creates one object. The intent is durable before the request is sent, the id before anything else happens, and every
 * answer but a confirmed one is resolved by listing before the create is sent again.
 */
export async function sendCreate(request: CreateRequest, context: ApplyContext): Promise<Created> {
  const { step, classKey } = request;
  const started = context.clock.now();
  const deadline = started + timeoutOf(step, "create", context);
  const reportLook = (error: ServiceError): void => {
    const detail = `${error.message}; looking whether it was made`;
    context.emit(progressOf(step, context.clock.now() - started, detail));
  };
  for (let failures = 0; ; ) {
    const sent = await sendOnce(request, context.classes.classFor(classKey), context, reportLook);
    if (sent.is === "created") return sent.created;
    const { error } = sent;
    const isPatient = notNow.includes(error.failure) && context.clock.now() < deadline;
    if (!isPatient) failures += 1;
    if (!isRepeatable(error)) throw error;
    if (failures === attempts) throw sent.is === "not-sent" ? error : createLost(step, error);
    const { longest } = context.profile.timing.poll;
    if (sent.is === "not-sent") await context.clock.sleep(longest * Math.max(1, failures), context.stopping);
  }
}

type Sent =
  | { readonly is: "created"; readonly created: Created }
  /** The request never left, or it made nothing. */
  | { readonly is: "not-sent" | "made-nothing"; readonly error: ServiceError };

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
    const answer = await send().catch((thrown: unknown) => asServiceError(thrown, "create"));
    if (typeof answer === "string" && (await createClass.acknowledge(announced, answer)))
      return { is: "created", created: { ...announced, id: answer, unsure: [] } };
    const error = typeof answer === "string" ? notOurs(step, answer) : answer;
    if (!mayHaveMade(error)) {
      await context.journal.record({ type: "create-abandoned", address: step.address });
      if (context.stopping.aborted) throw error;
      return { is: "not-sent", error };
    }
    if (context.aborting.aborted) throw error;
    const endedAt = context.clock.now();
    onUnknown(error);
    if (!error.mayHaveWorked) await context.journal.record({ type: "create-refused", address: step.address });
    const found = await createClass.resolve(announced, endedAt);
    if (found === undefined) return { is: "made-nothing", error };
    return { is: "created", created: { ...announced, ...found } };
  } finally {
    createClass.leave(announced);
  }
}

/** False where a create surely made nothing: it never left this process. An error or a refusal is no proof. */
export function mayHaveMade({ wasSent }: Pick<ServiceError, "wasSent" | "mayHaveWorked">): boolean {
  return wasSent;
}

function notOurs({ address }: Step, id: string): ServiceError {
  const message = `the answer to the create of ${address} names ${id}, which was there before or is another one's`;
  return new ServiceError("shape", "create", message, { mayHaveWorked: true });
}

function isRepeatable({ failure }: ServiceError): boolean {
  return [...notNow, "unavailable", "unauthorized", "lost", "shape"].includes(failure);
}

function createLost({ address }: Step, cause: ServiceError): GraphformError {
  return new GraphformError(
    "create-lost",
    `the service lost the create of ${address} ${attempts} times: ${cause.message}`,
    { hint: "nothing was created; run apply again when the service is well", cause },
  );
}
