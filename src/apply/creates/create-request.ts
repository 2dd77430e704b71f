/** @module Describes one create on its way, the class that it is sent in, and the events that end it. */
import type { Address } from "../../model/address.ts";
import type { Step } from "../../model/plan.ts";
import type { CreateRound, Intent } from "../../model/state.ts";
import type { CreatedObject, StateEvent } from "../../model/state-event.ts";
import type { Match } from "../evidence/candidates.ts";

export interface CreateRequest {
  /** The step, with the place of the object as requests need it. */
  readonly step: Step;
  /** Names the class: only creates with equal keys can be taken for each other. */
  readonly classKey: string;
  readonly intent: Omit<Intent, "round" | "startedAt" | "sentAfter">;
  /** Sends the request once and gives the new id. */
  readonly send: () => Promise<string>;
}

/** A create whose intent is durable: it may be sent. */
export interface AnnouncedCreate {
  readonly request: CreateRequest;
  readonly intent: Intent;
  readonly round: CreateRound;
}

export interface Created {
  readonly id: string;
  readonly intent: Intent;
  readonly round: CreateRound;
  /** Fields whose values may be those of another create, so that they have to be set. */
  readonly unsure: readonly string[];
}

/** Creates of one kind whose objects could be taken for each other. Call `leave` once for each that has entered, after any outcome. */
export interface CreateClass {
  /** Waits until the create may be in flight beside the others, and announces it durably. */
  enter(request: CreateRequest): Promise<AnnouncedCreate>;
  /** Binds the id of an answer. False if the answer is no proof: the object was there before, or belongs to another address. */
  acknowledge(create: AnnouncedCreate, id: string): Promise<boolean>;
  /**
   * Finds the object of an unconfirmed create, once no other of the class is in flight; undefined: it has made none.
   * `endedAt` is the last moment at which its request can have worked, in ms since 1970.
   */
  resolve(create: AnnouncedCreate, endedAt: number): Promise<Pick<Created, "id" | "unsure"> | undefined>;
  /** Leaves the intent of a refused create open: its object is looked for before another create of the class, or by the next run. */
  leaveOpen(create: AnnouncedCreate, endedAt: number): void;
  leave(create: AnnouncedCreate): void;
}

/** The outcome of a search for lost creates: the objects that were found, and the creates that made none. */
export interface ResolvedCreates {
  readonly found: readonly Match[];
  readonly absent: readonly Address[];
}

export function createdObject(
  address: Address,
  id: string,
  { digest }: Pick<Intent, "digest">,
  now: number,
): CreatedObject {
  const createdAt = new Date(now).toISOString();
  const converging = { operation: "create", since: createdAt, record: {}, digest };
  return { address, id, createdAt, converging };
}

/** The event with the outcome of lost creates. An object that may belong to another create is unconfirmed. */
export function resolution(
  { found, absent }: ResolvedCreates,
  intents: ReadonlyMap<Address, Intent>,
  now: number,
): StateEvent {
  const objects = found.flatMap(({ address, live, unsure }): CreatedObject[] => {
    const intent = intents.get(address);
    if (intent === undefined) return [];
    const unconfirmed = unsure.length === 0 ? {} : { unconfirmed: unsure };
    return [{ ...createdObject(address, live.id, intent, now), ...unconfirmed }];
  });
  return { type: "creates-resolved", found: objects, absent };
}
