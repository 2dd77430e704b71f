/** @module Describes one create on its way, the class that it is sent in, and the events that end it or open it again. */
import type { Address } from "../../model/address.ts";
import type { Clock } from "../../model/clock.ts";
import { GraphformError, shellWord } from "../../model/errors.ts";
import type { KindRegistry } from "../../model/kind.ts";
import type { Step } from "../../model/plan.ts";
import type { Bound, CreateRound, Intent } from "../../model/state.ts";
import type { CreatedObject, Journal, StateEvent } from "../../model/state-event.ts";
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

export interface Created extends Pick<AnnouncedCreate, "intent" | "round">, Pick<Match, "unsure"> {
  readonly id: string;
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

/** The event with the outcome of lost creates. An object that may belong to another create is unconfirmed; one that was found by its time alone says so. */
export function resolution(
  { found, absent }: ResolvedCreates,
  intents: ReadonlyMap<Address, Intent>,
  listed: CreateRound,
  { clock, kinds }: { readonly clock: Clock; readonly kinds: KindRegistry },
): StateEvent {
  const { namedBy } = kinds.named(listed.kind);
  const objects = found.flatMap(({ address, live, unsure }): CreatedObject[] => {
    const intent = intents.get(address);
    if (intent === undefined) return [];
    const unconfirmed = unsure.length === 0 ? {} : { unconfirmed: unsure };
    const created = createdObject(address, live.id, intent, clock.now());
    const isKnown =
      intent.acknowledged === live.id || live.owner || namedBy !== undefined || unsure.length > 0;
    const byTime = isKnown ? {} : { byTime: { intent: { ...intent, recorded: {} }, listed } };
    return [{ ...created, converging: { ...created.converging, ...byTime }, ...unconfirmed }];
  });
  return { type: "creates-resolved", found: objects, absent };
}

/** Lets go of an object that was found by its time alone and refuses the login which its create has set. Returns the error that names it. */
export async function releaseLockedOut(
  address: Address,
  { id, recorded, protect, onDelete, refs }: Bound,
  { intent, listed }: NonNullable<Bound["converging"]>["byTime"] & object,
  journal: Pick<Journal, "record">,
): Promise<GraphformError> {
  const lockedOut = [...(intent.lockedOut ?? []), id];
  const reopened = { ...intent, recorded, protect, onDelete, refs, lockedOut };
  await journal.record({ type: "create-announced", address, intent: reopened, listed, released: true });
  return unresolved(
    [address],
    `${id}, which was made at that time, refuses the declared login: it is let go of`,
  );
}

/** The error if nothing tells what creates have made; `what` says why. */
export function unresolved(addresses: readonly Address[], what: string): GraphformError {
  const [first = ""] = addresses;
  const answers =
    addresses.length === 1
      ? `the answer to the create of ${first} was lost, or refused it`
      : `the answers to the creates of ${addresses.join(", ")} were lost, or refused them`;
  const name = addresses.length === 1 ? shellWord(first) : "ADDRESS";
  const hint = `look at them, then bind each: graphform import ${name} ID; or, if none of them is its object: graphform state rm ${name}`;
  return new GraphformError("create-ambiguous", `${answers}, and ${what}`, { hint });
}
