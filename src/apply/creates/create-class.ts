/** @module Runs the creates of one class: announces each before it is sent, and finds out what lost ones have made. */
import { GraphformError } from "../../model/errors.ts";
import { perText } from "../../model/once.ts";
import type { Intent } from "../../model/state.ts";
import { type ApplyContext, driverOf, withOwnPatience } from "../context.ts";
import {
  type ClassState,
  mayJoin,
  mostInFlight,
  newClassState,
  type Unresolved,
  waitForRound,
} from "./class-state.ts";
import {
  type AnnouncedCreate,
  type CreateClass,
  type CreateRequest,
  createdObject,
  resolution,
} from "./create-request.ts";
import { findCreated } from "./find-created.ts";
import { assertStillMissing } from "./still-missing.ts";

/** The create classes of a run. */
export function createClasses(context: Omit<ApplyContext, "classFor">): ApplyContext["classFor"] {
  return perText((key) => openCreateClass(key, context));
}

function openCreateClass(key: string, context: ClassState["context"]): CreateClass {
  const state = newClassState(key, context);
  const { inFlight, known } = state;
  const { clock, journal } = context;
  const addLost = (
    { request, intent: announced }: AnnouncedCreate,
    end: Pick<Unresolved, "endedAt" | "waiter">,
  ): void => {
    const { address } = request.step;
    const intent = journal.state.intents[address] ?? announced;
    state.lost = [...state.lost, { address, intent, ...end }];
    inFlight.delete(request);
    advance(state);
  };
  return {
    async enter(request) {
      const admitted = waitForRound(request, state);
      advance(state);
      const opened = await admitted;
      try {
        await assertStillMissing(request.step, opened.round, context);
      } catch (error) {
        inFlight.delete(request);
        advance(state);
        throw error;
      }
      return announce(request, opened, state);
    },
    async acknowledge({ request: { step }, intent }, id) {
      if (!known.mayBeNew(step.kind, step.place, id, step.address)) return false;
      const created = createdObject(step.address, id, intent, clock.now());
      await journal.record({ type: "create-acknowledged", ...created });
      return true;
    },
    resolve: (create, endedAt) =>
      new Promise((resolve, reject) => addLost(create, { endedAt, waiter: { resolve, reject } })),
    leaveOpen: (create, endedAt) => addLost(create, { endedAt }),
    leave({ request }) {
      if (inFlight.delete(request)) advance(state);
    },
  };
}

/** Writes the intent of an admitted create, and its round if the state does not know it, before it is sent. */
async function announce(
  request: CreateRequest,
  { id, round }: NonNullable<ClassState["round"]>,
  state: ClassState,
): Promise<AnnouncedCreate> {
  const { clock, journal } = state.context;
  const { address } = request.step;
  const startedAt = new Date(clock.now()).toISOString();
  const date = state.context.dateOf(request.step.kind);
  const sentAfter = date === undefined ? {} : { sentAfter: new Date(date).toISOString() };
  const intent: Intent = { ...request.intent, round: id, startedAt, ...sentAfter };
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

/** Does what can be done next for a class. While an answer is lost nothing is admitted: the object of a new create could be taken for that of the lost one. */
function advance(state: ClassState): void {
  const { context, inFlight, lost, waiting } = state;
  if (state.isBusy) return;
  if (state.failure !== undefined) refuseAll(state, state.failure);
  if (context.stopping.aborted) refuseAll(state, context.stopping.reason);
  if (waiting.isEmpty && lost.every(({ waiter }) => waiter === undefined)) return;
  if (lost.length > 0 && inFlight.size === 0) return void exclusively(state, resolveLost);
  if (lost.length > 0) return;
  if (inFlight.size === 0) return void exclusively(state, startRound);
  admit(state);
}

async function exclusively(state: ClassState, work: (state: ClassState) => Promise<void>): Promise<void> {
  state.isBusy = true;
  await work(state);
  state.isBusy = false;
  advance(state);
}

/** Lists the place of the first create, for all of the class that will be in flight together. */
async function startRound(state: ClassState): Promise<void> {
  const { key: classKey, context } = state;
  const first = state.waiting.first();
  if (first === undefined) return;
  try {
    const { kind, place } = first.request.step;
    const before = await driverOf(context, kind).list(place, context.stopping);
    state.known.add(kind, place, before);
    state.round = { id: newRoundId(classKey, context), round: { kind, place, classKey, before } };
    admit(state);
  } catch (error) {
    for (const { refuse } of state.waiting.drain()) refuse(error);
  }
}

function admit(state: ClassState): void {
  const { inFlight, round, waiting } = state;
  if (round === undefined) return;
  waiting.admit(
    mostInFlight,
    (waiter) => mayJoin(waiter, state),
    (waiter) => {
      inFlight.set(waiter.request, waiter);
      waiter.admit(round);
    },
  );
}

/** Finds the objects of all lost creates of the round at once, and records the outcome of each. */
async function resolveLost(state: ClassState): Promise<void> {
  const { context, lost, round: opened } = state;
  state.lost = [];
  try {
    if (opened === undefined) throw new Error("a create was lost outside of a round");
    const since = Math.max(...lost.map(({ intent }) => Date.parse(intent.startedAt)));
    const result = await findCreated(opened.round, lost, withOwnPatience(context, since));
    const intents = new Map(lost.map(({ address, intent }) => [address, intent]));
    await context.journal.record(resolution(result, intents, opened.round, context));
    for (const { address, waiter } of lost) {
      const match = result.found.find((found) => found.address === address);
      waiter?.resolve(match === undefined ? undefined : { id: match.live.id, unsure: match.unsure });
      if (waiter !== undefined || match === undefined) continue;
      const message = `${match.live.id} was created for ${address} although the service refused that create; it is bound now`;
      context.emit({ type: "warning", address, message });
    }
  } catch (error) {
    state.failure = error instanceof GraphformError ? error : undefined;
    for (const { waiter } of lost) waiter?.reject(error);
    refuseAll(state, error);
  }
}

function refuseAll({ waiting }: ClassState, error: unknown): void {
  for (const { request, refuse } of waiting.drain()) refuse(unsent(request, error));
}

/** The error of a create that was not sent because another one of its class is not resolved. */
function unsent({ step }: CreateRequest, cause: unknown): unknown {
  if (!(cause instanceof GraphformError)) return cause;
  const message = `the create of ${step.address} was not sent, because another one of its class is not resolved: ${cause.message}`;
  const hint = "resolve that one, then run apply again";
  return new GraphformError("create-unsent", message, { hint, exitCode: cause.exitCode, cause });
}

function newRoundId(classKey: string, { clock, journal }: Pick<ApplyContext, "clock" | "journal">): string {
  const id = `${classKey} ${new Date(clock.now()).toISOString()}`;
  return Object.hasOwn(journal.state.rounds, id) ? `${id} ${journal.state.serial}` : id;
}
