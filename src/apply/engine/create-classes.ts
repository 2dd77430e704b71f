/** @module Sends creates: many of a class together where that is safe, and none while one of its answers is lost. */
import { GraphformError, ServiceError } from "../../model/errors.ts";
import type { Step } from "../../model/plan.ts";
import type { CreateRound, Intent } from "../../model/state.ts";
import type { ApplyContext } from "../context.ts";
import { progressOf } from "./converge.ts";
import { type CreateClass, openClass } from "./create-class.ts";
import { asServiceError, notNow } from "./lost-answer.ts";
import { timeoutOf } from "./settle.ts";

/** A create, ready to be sent. */
export interface CreateRequest {
  /** The step, with the place of the object as requests need it. */
  readonly step: Step;
  readonly classKey: string;
  readonly intent: Omit<Intent, "round" | "startedAt">;
  /** Sends the request once and gives the new id. */
  readonly send: () => Promise<string>;
}

/** An object that a create has made. */
export interface Created {
  readonly id: string;
  readonly intent: Intent;
  readonly round: CreateRound;
  /** Fields whose values may be those of another create, so that they have to be set. */
  readonly unsure: readonly string[];
}

/** The creates of one run. */
export interface CreateClasses {
  /**
   * Creates once: the intent is durable before the request is sent, the id before anything else happens, and every
   * answer but a confirmed one is resolved by listing before the create is sent again.
   */
  create(request: CreateRequest): Promise<Created>;
}

/** The most times that a create is sent. A service that only says "not now" is asked until time is up. */
const attempts = 4;

/** Starts without any class. */
export function createClasses(context: Omit<ApplyContext, "creates">): CreateClasses {
  const classes = new Map<string, CreateClass>();
  const classOf = (key: string): CreateClass => {
    const known = classes.get(key) ?? openClass(key, context);
    classes.set(key, known);
    return known;
  };
  return {
    async create(request) {
      const { step, classKey } = request;
      const deadline = context.clock.now() + timeoutOf(step, "create", context);
      const started = context.clock.now();
      for (let failures = 0; ; ) {
        const sent = await sendOnce(request, classOf(classKey), context, (error) =>
          context.emit(
            progressOf(step, context.clock.now() - started, `${error.message}; looking whether it was made`),
          ),
        );
        if (sent.is === "created") return sent.created;
        const { error } = sent;
        const isPatient = notNow.includes(error.failure) && context.clock.now() < deadline;
        if (!isPatient) failures += 1;
        if (!isRepeatable(error)) throw error;
        if (failures === attempts) throw sent.is === "not-sent" ? error : createLost(step, error);
        if (sent.is === "not-sent")
          await context.clock.sleep(context.profile.timing.poll.longest * failures, context.stopping);
      }
    },
  };
}

type Sent =
  | { readonly is: "created"; readonly created: Created }
  /** The request never left, or it made nothing. */
  | { readonly is: "not-sent" | "made-nothing"; readonly error: ServiceError };

/** Sends a create once, and finds out what came of it. */
async function sendOnce(
  request: CreateRequest,
  group: CreateClass,
  context: Omit<ApplyContext, "creates">,
  onUnknown: (error: ServiceError) => void,
): Promise<Sent> {
  const { step, send } = request;
  const flight = await group.enter(request);
  try {
    // Nothing was sent yet: what is interrupted here made nothing.
    if (context.stopping.aborted) {
      await context.journal.record({ type: "create-abandoned", address: step.address });
      throw context.stopping.reason;
    }
    const answer = await send().catch((thrown: unknown) => asServiceError(thrown, "create"));
    if (typeof answer === "string" && (await group.acknowledge(flight, answer)))
      return { is: "created", created: { ...flight, id: answer, unsure: [] } };
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
    const found = await group.resolve(flight, endedAt);
    if (found === undefined) return { is: "made-nothing", error };
    return { is: "created", created: { ...flight, ...found } };
  } finally {
    group.leave(flight);
  }
}

/** False where a create surely made nothing: it never left this process. No answer is a proof, a refusal neither. */
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
