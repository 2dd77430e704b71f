/** @module Moves a create class on: opens rounds, admits waiting creates, and looks for lost ones while nothing is in flight. */
import { GraphformError } from "../../model/errors.ts";
import { type ClassState, mayJoin, mostInFlight } from "./class-state.ts";
import type { CreateRequest } from "./create-request.ts";
import { findCreated } from "./find-created.ts";
import { resolution } from "./intent.ts";
import { openRound } from "./open-round.ts";

/**
 * Does what can be done next for a class. Call it after every change of its state. While an answer is lost nothing is
 * admitted: the object of a new create could be taken for that of the lost one.
 */
export function advance(state: ClassState): void {
  const { context, inFlight, lost, waiting } = state;
  if (state.isBusy) return;
  if (state.failure !== undefined) refuseAll(state, state.failure);
  if (context.stopping.aborted) refuseAll(state, context.stopping.reason);
  if (lost.length > 0 && inFlight.size === 0) return void exclusively(state, resolveLost);
  if (lost.length > 0 || waiting.isEmpty) return;
  if (inFlight.size === 0) return void exclusively(state, startRound);
  admit(state);
}

async function exclusively(state: ClassState, work: (state: ClassState) => Promise<void>): Promise<void> {
  state.isBusy = true;
  await work(state);
  state.isBusy = false;
  advance(state);
}

async function startRound(state: ClassState): Promise<void> {
  const first = state.waiting.first();
  if (first === undefined) return;
  try {
    const opened = await openRound(state.key, first.request.step, state.context);
    state.known.add(opened.round.kind, opened.round.place, opened.round.before);
    state.round = opened;
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

/** Finds the objects of all lost creates of the round at once, and records what became of each. */
async function resolveLost(state: ClassState): Promise<void> {
  const { context, lost, round: opened } = state;
  state.lost = [];
  try {
    if (opened === undefined) throw new Error("a create was lost outside of a round");
    const result = await findCreated(opened.round, lost, context);
    const intents = new Map(lost.map(({ address, intent }) => [address, intent]));
    await context.journal.record(resolution(result, intents, context.clock.now()));
    for (const { address, resolve } of lost) {
      const match = result.found.find((found) => found.address === address);
      resolve(match === undefined ? undefined : { id: match.live.id, unsure: match.unsure });
    }
  } catch (error) {
    state.failure = error instanceof GraphformError ? error : undefined;
    for (const { reject } of lost) reject(error);
    refuseAll(state, error);
  }
}

function refuseAll({ waiting }: ClassState, error: unknown): void {
  for (const { request, refuse } of waiting.drain()) refuse(unsent(request, error));
}

/** The error of a create that was not sent because another one of its class is not resolved. */
function unsent({ step }: CreateRequest, cause: unknown): unknown {
  if (!(cause instanceof GraphformError)) return cause;
  return new GraphformError(
    "create-unsent",
    `the create of ${step.address} was not sent, because another one of its class is not resolved: ${cause.message}`,
    { hint: "resolve that one, then run apply again", cause },
  );
}
