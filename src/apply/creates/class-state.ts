/** @module Holds the creates of one class that wait, are in flight or have lost their answers, and the objects that they cannot have made. */
import type { Address } from "../../model/address.ts";
import { GraphformError } from "../../model/errors.ts";
import { type JsonObject, stableJson } from "../../model/json.ts";
import { objectKey } from "../../model/observed.ts";
import type { CreateRound } from "../../model/state.ts";
import type { Journal } from "../../model/state-event.ts";
import type { ApplyContext } from "../context.ts";
import type { LostCreate } from "../evidence/candidates.ts";
import { fixedPart, mayBeInFlightTogether } from "../evidence/in-flight-together.ts";
import type { Created, CreateRequest } from "./create-request.ts";

export interface OpenRound {
  readonly id: string;
  readonly round: CreateRound;
}

/** A create that waits to be admitted to a round. */
export interface Waiter {
  readonly request: CreateRequest;
  /** The place, as text. */
  readonly placeKey: string;
  readonly admit: (round: OpenRound) => void;
  readonly refuse: (error: unknown) => void;
}

/** A create without a confirmed answer. A waiting step is called back once the class knows the object. */
export interface Unresolved extends LostCreate {
  readonly waiter?: {
    readonly resolve: (found: Pick<Created, "id" | "unsure"> | undefined) => void;
    readonly reject: (error: unknown) => void;
  };
}

export interface ClassState {
  readonly key: string;
  readonly context: Omit<ApplyContext, "classFor">;
  readonly known: ReturnType<typeof knownObjects>;
  readonly waiting: ReturnType<typeof createQueue<Waiter>>;
  /** Creates that are announced and have no answer yet. */
  readonly inFlight: Map<CreateRequest, Pick<Waiter, "placeKey">>;
  lost: readonly Unresolved[];
  round: OpenRound | undefined;
  /** True while the place is listed or lost creates are looked for: nothing else of the class happens then. */
  isBusy: boolean;
  /** The reason for which lost creates could not be resolved. No create of the class is sent after that. */
  failure: GraphformError | undefined;
}

/** The most creates of a class that are announced and handed to the client at once. */
export const mostInFlight = 64;

export function newClassState(key: string, context: ClassState["context"]): ClassState {
  return {
    key,
    context,
    known: knownObjects(context.journal),
    waiting: createQueue(),
    inFlight: new Map(),
    lost: [],
    round: undefined,
    isBusy: false,
    failure: unresolvedBefore(key, context),
  };
}

/** The error if an earlier run left a create of the class open: the object of a new one could be taken for that of the open one. */
function unresolvedBefore(
  key: string,
  { kinds, journal, stateAtStart }: ClassState["context"],
): GraphformError | undefined {
  const open = Object.entries(stateAtStart.intents).find(([address, { round }]) => {
    const { kind = "", classKey } = stateAtStart.rounds[round] ?? {};
    const isOpen = journal.state.intents[address]?.round === round;
    return isOpen && classKey === key && kinds.named(kind).namedBy === undefined;
  });
  if (open === undefined) return undefined;
  const [address] = open;
  return new GraphformError(
    "create-ambiguous",
    `nothing shows what an earlier create of ${address} has made`,
  );
}

/** Adds a create to those that wait. Resolves with its round once it is admitted. */
export function waitForRound(request: CreateRequest, { waiting, context }: ClassState): Promise<OpenRound> {
  const { step, intent } = request;
  const placeKey = stableJson(step.place);
  const group = `${placeKey} ${fixedPart(intent, context.kinds.named(step.kind).schema)}`;
  return new Promise((admit, refuse) => waiting.add(group, { request, placeKey, admit, refuse }));
}

/** True if a create may be sent beside those in flight: even if all answers were lost, each object could be told from the others. */
export function mayJoin(
  { request: { step, intent }, placeKey }: Waiter,
  { inFlight, context }: ClassState,
): boolean {
  if (inFlight.size >= mostInFlight) return false;
  const { schema, marksOwner } = context.kinds.named(step.kind);
  const shown = context.shownPaths.get(step.kind) ?? new Set();
  const isMarked = marksOwner(context.profile);
  return [...inFlight].every(
    ([other, { placeKey: otherPlaceKey }]) =>
      otherPlaceKey === placeKey && (isMarked || mayBeInFlightTogether(intent, other.intent, schema, shown)),
  );
}

/** The objects that addresses are bound to, or were since, and those that were listed before a create was sent: none of them is a new one. */
export function knownObjects(journal: Pick<Journal, "state" | "boundTo">) {
  const since = journal.state.serial;
  const listed = new Set<string>();
  return {
    /** False if an answer with this id proves nothing for the address. A gone object may come back for it: the id of a user is its name. */
    mayBeNew: (kind: string, place: JsonObject, id: string, address: Address): boolean =>
      !listed.has(objectKey(kind, { id, place })) &&
      journal.boundTo(kind, { id, place }, since).every((other) => other === address),
    add(kind: string, place: JsonObject, ids: readonly string[]): void {
      for (const id of ids) listed.add(objectKey(kind, { id, place }));
    },
  };
}

/** Waiting entries in groups, in the order of their arrival. Entries of one group may always be in flight together. */
export function createQueue<Waiter>() {
  const waiting = new Map<string, Waiter[]>();
  return {
    get isEmpty(): boolean {
      return waiting.size === 0;
    },
    first: (): Waiter | undefined => [...firstOf(waiting, 1)][0]?.[1][0],
    add(group: string, waiter: Waiter): void {
      const members = waiting.get(group);
      if (members === undefined) waiting.set(group, [waiter]);
      else members.push(waiter);
    },
    /** Takes out entries that may go now, at the heads of the first `groups` groups: its cost does not grow with the queue. */
    admit(groups: number, mayGo: (waiter: Waiter) => boolean, go: (waiter: Waiter) => void): void {
      for (const [group, members] of [...firstOf(waiting, groups)]) {
        for (let next = members[0]; next !== undefined && mayGo(next); next = members[0]) {
          members.shift();
          go(next);
        }
        if (members.length === 0) waiting.delete(group);
      }
    },
    drain(): readonly Waiter[] {
      const all = [...waiting.values()].flat();
      waiting.clear();
      return all;
    },
  };
}

function* firstOf<T>(entries: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const entry of entries) {
    if (left === 0) return;
    left -= 1;
    yield entry;
  }
}
