/** @module The creates of one class in one run: who may be in flight, and what became of those whose answers are lost. */
import { GraphformError } from "../../model/errors.ts";
import { stableJson } from "../../model/json.ts";
import type { CreateRound, Intent } from "../../model/state.ts";
import { type ApplyContext, driverOf, kindOf } from "../context.ts";
import type { LostCreate } from "../evidence/candidates.ts";
import { mayFlyTogether } from "../evidence/in-flight-together.ts";
import { createdObject, resolution } from "../intent.ts";
import type { Created, CreateRequest } from "./create-classes.ts";
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

/** The most creates of a class that are handed to the client at once: after an interrupt no more than these are sent. */
const mostInFlight = 64;

/** Opens a class in which nothing is in flight. */
export function openClass(key: string, context: Omit<ApplyContext, "creates">): CreateClass {
  const { clock, journal } = context;
  const inFlight = new Set<CreateRequest>();
  let waiting: readonly Waiter[] = [];
  let lost: readonly Lost[] = [];
  let round: OpenRound | undefined;
  let isBusy = false;
  let unresolved: GraphformError | undefined;

  const mayJoin = ({ step, intent }: CreateRequest): boolean => {
    const { schema, marksOwner } = kindOf(context, step.kind);
    const shown = context.shown.get(step.kind) ?? new Set();
    const isMarked = marksOwner?.(context.profile) === true;
    return [...inFlight].every(
      (other) =>
        stableJson(other.step.place) === stableJson(step.place) &&
        (isMarked || mayFlyTogether(intent, other.intent, schema, shown)),
    );
  };

  /** Lets in whoever may fly now. Nobody while an answer is lost: its object could be taken for another's. */
  const pump = (): void => {
    if (isBusy) return;
    if (unresolved !== undefined) refuseAll(unresolved);
    if (lost.length > 0 && inFlight.size === 0) return void exclusively(resolveLost);
    if (lost.length > 0 || waiting.length === 0) return;
    if (inFlight.size === 0) return void exclusively(openRound);
    admit();
  };
  const admit = (): void => {
    const left: Waiter[] = [];
    for (const [at, waiter] of waiting.entries()) {
      if (round === undefined || inFlight.size >= mostInFlight) {
        left.push(...waiting.slice(at));
        break;
      }
      if (mayJoin(waiter.request)) {
        inFlight.add(waiter.request);
        waiter.admit(round);
      } else left.push(waiter);
    }
    waiting = left;
  };
  const refuseAll = (error: unknown): void => {
    const refused = waiting;
    waiting = [];
    for (const { request, refuse } of refused) refuse(unsent(request, error));
  };
  const exclusively = async (work: () => Promise<void>): Promise<void> => {
    isBusy = true;
    await work();
    isBusy = false;
    pump();
  };

  /** Lists the place once for everything that will be in flight together. */
  const openRound = async (): Promise<void> => {
    const [first] = waiting;
    if (first === undefined) return;
    const { kind, place } = first.request.step;
    try {
      const before = await driverOf(context, kind).list(place, context.stopping);
      const listed = { kind, place, classKey: key, before };
      round = { id: newRoundId(key, context), listed };
      admit();
    } catch (error) {
      const refused = waiting;
      waiting = [];
      for (const { refuse } of refused) refuse(error);
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
        waiting = [...waiting, { request, admit: admitted, refuse }];
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
    async acknowledge({ request: { step }, intent, round: listed }, id) {
      const { resources } = journal.state;
      const isTaken = Object.entries(resources).some(
        ([address, bound]) =>
          address !== step.address &&
          bound.kind === step.kind &&
          bound.id === id &&
          stableJson(bound.place) === stableJson(step.place),
      );
      if (isTaken || listed.before.includes(id)) return false;
      const created = createdObject(step.address, id, intent, clock.now());
      await journal.record({ type: "create-acknowledged", ...created });
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
