/** @module Holds which creates of one class wait, which are in flight, and which have lost their answers. */
import type { GraphformError } from "../../model/errors.ts";
import { stableJson } from "../../model/json.ts";
import type { ApplyContext } from "../context.ts";
import type { LostCreate } from "../evidence/candidates.ts";
import { fixedPart, mayBeInFlightTogether } from "../evidence/in-flight-together.ts";
import { type CreateQueue, createQueue } from "./create-queue.ts";
import type { Created, CreateRequest } from "./create-request.ts";
import { type KnownObjects, knownObjects } from "./known-objects.ts";
import type { OpenRound } from "./open-round.ts";

/** A create that waits to be admitted to a round. */
export interface Waiter {
  readonly request: CreateRequest;
  /** The place, as text. */
  readonly placeKey: string;
  readonly admit: (round: OpenRound) => void;
  readonly refuse: (error: unknown) => void;
}

/** A create without a confirmed answer; one of the two callbacks is called once the class knows what it has made. */
export interface Unresolved extends LostCreate {
  readonly resolve: (found: Pick<Created, "id" | "unsure"> | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** One class of one run. It changes as creates come and go. */
export interface ClassState {
  readonly key: string;
  readonly context: Omit<ApplyContext, "classes">;
  readonly known: KnownObjects;
  readonly waiting: CreateQueue<Waiter>;
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

/** A class with nothing waiting and nothing in flight. */
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
    failure: undefined,
  };
}

/** Adds a create to those that wait. Resolves with its round once it is admitted. */
export function waitForRound(request: CreateRequest, { waiting, context }: ClassState): Promise<OpenRound> {
  const { step, intent } = request;
  const placeKey = stableJson(step.place);
  const group = `${placeKey} ${fixedPart(intent, context.kinds.named(step.kind).schema)}`;
  return new Promise((admit, refuse) => waiting.add(group, { request, placeKey, admit, refuse }));
}

/** True where a create may be sent beside those in flight: if all answers were lost, nothing would have to be guessed. */
export function mayJoin(
  { request: { step, intent }, placeKey }: Waiter,
  { inFlight, context }: ClassState,
): boolean {
  if (inFlight.size >= mostInFlight) return false;
  const { schema, marksOwner } = context.kinds.named(step.kind);
  const shown = context.shown.get(step.kind) ?? new Set();
  const isMarked = marksOwner?.(context.profile) === true;
  return [...inFlight].every(
    ([other, { placeKey: otherPlaceKey }]) =>
      otherPlaceKey === placeKey && (isMarked || mayBeInFlightTogether(intent, other.intent, schema, shown)),
  );
}
