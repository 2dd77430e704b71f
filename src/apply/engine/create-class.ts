/** @module The creates of one class in one run: who may be in flight, and what became of those whose answers are lost. */
import type { Address } from "../../model/address.ts";
import { GraphformError } from "../../model/errors.ts";
import { type JsonObject, stableJson } from "../../model/json.ts";
import type { CreateRound, Intent } from "../../model/state.ts";
import { type ApplyContext, driverOf, kindOf } from "../context.ts";
import type { LostCreate } from "../evidence/candidates.ts";
import { fixedPart, mayFlyTogether } from "../evidence/in-flight-together.ts";
import { createdObject, resolution } from "../intent.ts";
import type { Created, CreateRequest } from "./create-classes.ts";
import { createQueue } from "./create-queue.ts";
import { findCreated } from "./find-created.ts";

/** A create that is announced and may be sent. */
export interface Flight {
  readonly request: CreateRequest;
  readonly intent: Intent;
  readonly round: CreateRound;
}

/** One class: creates of one kind at one place, whose objects lists cannot tell apart. */
export interface CreateClass {
  /** Waits until the create may be in flight beside the others, and announces it durably. */
  enter(request: CreateRequest): Promise<Flight>;
  /** Binds the id of an answer. False where the answer proves nothing: the object was there before, or is another's. */
  acknowledge(flight: Flight, id: string): Promise<boolean>;
  /** Finds out what an unconfirmed create has made, once no other of the class is in flight; undefined: nothing. */
  resolve(flight: Flight, endedAt: number): Promise<Pick<Created, "id" | "unsure"> | undefined>;
  leave(flight: Flight): void;
}

interface Waiter {
  readonly request: CreateRequest;
  readonly place: string;
  readonly admit: (round: OpenRound) => void;
  readonly refuse: (error: unknown) => void;
}

interface OpenRound {
  readonly id: string;
  readonly listed: CreateRound;
}

interface Lost extends LostCreate {
  readonly settle: (found: Pick<Created, "id" | "unsure"> | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** The most creates of a class that are announced and handed to the client at once. */
const mostInFlight = 64;

/** Opens a class in which nothing is in flight. */
export function openClass(key: string, context: Omit<ApplyContext, "creates">): CreateClass {
  const { clock, journal } = context;
  const inFlight = new Map<CreateRequest, Pick<Waiter, "place">>();
  const waiting = createQueue<Waiter>();
  let lost: readonly Lost[] = [];
  let round: OpenRound | undefined;
  let isBusy = false;
  let unresolved: GraphformError | undefined;
  /** Objects that are there already, with the address that is bound to each; none: it was listed before a create was sent. */
  const known = new Map<string, Address | undefined>(
    Object.entries(journal.state.resources).map(([address, bound]) => [
      idOf(bound.kind, bound.place, bound.id),
      address,
    ]),
  );

  const mayJoin = ({ request: { step, intent }, place }: Waiter): boolean => {
    if (inFlight.size >= mostInFlight) return false;
    const { schema, marksOwner } = kindOf(context, step.kind);
    const shown = context.shown.get(step.kind) ?? new Set();
    const isMarked = marksOwner?.(context.profile) === true;
    return [...inFlight].every(
      ([other, { place: otherPlace }]) =>
        otherPlace === place && (isMarked || mayFlyTogether(intent, other.intent, schema, shown)),
    );
  };

  /** Lets in whoever may fly now. Nobody while an answer is lost: its object could be taken for another's. */
  const pump = (): void => {
    if (isBusy) return;
    if (unresolved !== undefined) refuseAll(unresolved);
    if (context.stopping.aborted) refuseAll(context.stopping.reason);
    if (lost.length > 0 && inFlight.size === 0) return void exclusively(resolveLost);
    if (lost.length > 0 || waiting.isEmpty) return;
    if (inFlight.size === 0) return void exclusively(openRound);
    admit();
  };
  const admit = (): void => {
    const opened = round;
    if (opened === undefined) return;
    waiting.admit(mostInFlight, mayJoin, (waiter) => {
      inFlight.set(waiter.request, waiter);
      waiter.admit(opened);
    });
  };
  const refuseAll = (error: unknown): void => {
    for (const { request, refuse } of waiting.drain()) refuse(unsent(request, error));
  };
  const exclusively = async (work: () => Promise<void>): Promise<void> => {
    isBusy = true;
    await work();
    isBusy = false;
    pump();
  };

  /** Lists the place once for everything that will be in flight together. */
  const openRound = async (): Promise<void> => {
    const first = waiting.first();
    if (first === undefined) return;
    const { kind, place } = first.request.step;
    try {
      const before = await driverOf(context, kind).list(place, context.stopping);
      const listed = { kind, place, classKey: key, before };
      for (const id of before) known.set(idOf(kind, place, id), undefined);
      round = { id: newRoundId(key, context), listed };
      admit();
    } catch (error) {
      for (const { refuse } of waiting.drain()) refuse(error);
    }
  };

  const resolveLost = async (): Promise<void> => {
    const batch = lost;
    lost = [];
    try {
      if (round === undefined) throw new Error("a create was lost outside of a round");
      const found = await findCreated(round.listed, batch, context);
      const intents = new Map(batch.map(({ address, intent }) => [address, intent]));
      await journal.record(resolution(found, intents, clock.now()));
      for (const { address, settle } of batch) {
        const match = found.found.find((each) => each.address === address);
        if (match !== undefined)
          known.set(idOf(round.listed.kind, round.listed.place, match.live.id), address);
        settle(match === undefined ? undefined : { id: match.live.id, unsure: match.unsure });
      }
    } catch (error) {
      unresolved = error instanceof GraphformError ? error : undefined;
      for (const { fail } of batch) fail(error);
      refuseAll(error);
    }
  };

  return {
    async enter(request) {
      const joined = await new Promise<OpenRound>((admitted, refuse) => {
        const { step, intent } = request;
        const place = stableJson(step.place);
        const group = `${place} ${fixedPart(intent, kindOf(context, step.kind).schema)}`;
        waiting.add(group, { request, place, admit: admitted, refuse });
        pump();
      });
      const { address } = request.step;
      const startedAt = new Date(clock.now()).toISOString();
      const intent: Intent = { ...request.intent, round: joined.id, startedAt };
      try {
        const isKnown = Object.hasOwn(journal.state.rounds, joined.id);
        const listed = isKnown ? {} : { listed: joined.listed };
        await journal.record({ type: "create-announced", address, intent, ...listed });
      } catch (error) {
        // Not durable, so not sent: what other steps write next must not say that it was.
        await journal.record({ type: "create-abandoned", address }).catch(() => undefined);
        inFlight.delete(request);
        pump();
        throw error;
      }
      return { request, intent, round: joined.listed };
    },
    async acknowledge({ request: { step }, intent }, id) {
      const created = idOf(step.kind, step.place, id);
      // What was bound here and is gone may come back under the same id: a user's id is its name.
      if (known.has(created) && known.get(created) !== step.address) return false;
      known.set(created, step.address);
      await journal.record({
        type: "create-acknowledged",
        ...createdObject(step.address, id, intent, clock.now()),
      });
      return true;
    },
    resolve({ request, intent: announced }, endedAt) {
      const { address } = request.step;
      const intent = journal.state.intents[address] ?? announced;
      return new Promise((settle, fail) => {
        lost = [...lost, { address, intent, endedAt, settle, fail }];
        inFlight.delete(request);
        pump();
      });
    },
    leave({ request }) {
      if (inFlight.delete(request)) pump();
    },
  };
}

function idOf(kind: string, place: JsonObject, id: string): string {
  return `${kind} ${stableJson(place)} ${id}`;
}

function newRoundId(key: string, { clock, journal }: Pick<ApplyContext, "clock" | "journal">): string {
  const id = `${key} ${new Date(clock.now()).toISOString()}`;
  return Object.hasOwn(journal.state.rounds, id) ? `${id} ${journal.state.serial}` : id;
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
