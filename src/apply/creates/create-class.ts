/** @module Runs the creates of one class: announces each before it is sent, and finds out what lost ones have made. */
import type { Intent } from "../../model/state.ts";
import { advance } from "./advance-class.ts";
import { type ClassState, newClassState, waitForRound } from "./class-state.ts";
import type { AnnouncedCreate, CreateClass, CreateRequest } from "./create-request.ts";
import { createdObject } from "./intent.ts";

/** Opens a class in which nothing is in flight. */
export function openCreateClass(key: string, context: ClassState["context"]): CreateClass {
  const state = newClassState(key, context);
  const { inFlight, known } = state;
  const { clock, journal } = context;
  return {
    async enter(request) {
      const admitted = waitForRound(request, state);
      advance(state);
      return announce(request, await admitted, state);
    },
    async acknowledge({ request: { step }, intent }, id) {
      if (!known.mayBeNew(step.kind, step.place, id, step.address)) return false;
      const created = createdObject(step.address, id, intent, clock.now());
      await journal.record({ type: "create-acknowledged", ...created });
      return true;
    },
    resolve({ request, intent: announced }, endedAt) {
      const { address } = request.step;
      const intent = journal.state.intents[address] ?? announced;
      return new Promise((resolve, reject) => {
        state.lost = [...state.lost, { address, intent, endedAt, resolve, reject }];
        inFlight.delete(request);
        advance(state);
      });
    },
    leave({ request }) {
      if (inFlight.delete(request)) advance(state);
    },
  };
}

/** Writes the intent of an admitted create, and its round where the state does not know it, before it is sent. */
async function announce(
  request: CreateRequest,
  { id, round }: NonNullable<ClassState["round"]>,
  state: ClassState,
): Promise<AnnouncedCreate> {
  const { clock, journal } = state.context;
  const { address } = request.step;
  const startedAt = new Date(clock.now()).toISOString();
  const intent: Intent = { ...request.intent, round: id, startedAt };
  try {
    const isKnown = Object.hasOwn(journal.state.rounds, id);
    const listed = isKnown ? {} : { listed: round };
    await journal.record({ type: "create-announced", address, intent, ...listed });
  } catch (error) {
    // The intent is not durable, so nothing is sent; later versions of the state must not contain it.
    await journal.record({ type: "create-abandoned", address }).catch(() => undefined);
    state.inFlight.delete(request);
    advance(state);
    throw error;
  }
  return { request, intent, round };
}
