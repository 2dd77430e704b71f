/** @module Finds the object of every create that an earlier run left open, or proves that there is none. */
import type { Address } from "../../model/address.ts";
import { GraphformError, isGraphformError, isServiceError } from "../../model/errors.ts";
import { present, type Reader } from "../../model/kind.ts";
import type { CreateDoubt, Plan } from "../../model/plan.ts";
import type { CreateRound, Intent, StateDocument } from "../../model/state.ts";
import type { ApplyContext } from "../context.ts";
import { isBlind, parentsOf, unproven, untilShownOrAbsent } from "../engine/watch-missing.ts";
import type { LostCreate } from "../evidence/candidates.ts";
import { type ResolvedCreates, resolution } from "./create-request.ts";
import { doubtAbout, findCreated } from "./find-created.ts";

/** Finds the object of every open create, or proves that there is none. A saved plan that does not create such an address is stale (exit 6). */
export async function recoverIntents(context: ApplyContext, saved?: Plan): Promise<Recovered> {
  const doubts = new Map<Address, CreateDoubt>();
  const { state } = context.journal;
  const found = await Promise.all(
    classesOf(state).map(async (open) => {
      let count = 0;
      for (const [id, round] of open) {
        // An older round could take an object of a newer one.
        const [doubt] = open
          .flatMap(([other]) => intentsOf(other, state))
          .flatMap(([address]) => doubts.get(address) ?? []);
        if (doubt === undefined) count += await recoverRound(id, round, context, saved, doubts);
        else for (const [address] of intentsOf(id, state)) doubts.set(address, doubt);
      }
      return count;
    }),
  );
  return { found: found.reduce((sum, count) => sum + count, 0), doubts };
}

/** The outcome of a recovery: the number of objects that were found, and the creates that may or may not have made one. */
export interface Recovered {
  readonly found: number;
  readonly doubts: ReadonlyMap<Address, CreateDoubt>;
}

/** Looks once for the objects of open creates, and returns the creates in doubt. Writes nothing. If the service does not answer, none is in doubt. */
export async function openCreatesInDoubt(
  state: StateDocument,
  readers: ReadonlyMap<string, Reader>,
  context: Pick<ApplyContext, "kinds" | "profile" | "clock" | "stopping">,
): Promise<ReadonlyMap<Address, CreateDoubt>> {
  const doubts = new Map<Address, CreateDoubt>();
  for (const [id, round] of classesOf(state).flat()) {
    const endedAt = Number.POSITIVE_INFINITY;
    const lost = intentsOf(id, state).map(([address, intent]) => ({ address, intent, endedAt }));
    const reader = present(readers.get(round.kind), round.kind);
    const error = await doubtAbout(round, lost, state, { ...context, reader }).catch((thrown: unknown) => {
      if (!isServiceError(thrown) || context.stopping.aborted) throw thrown;
      return undefined;
    });
    if (error !== undefined) for (const { address } of lost) doubts.set(address, doubtOf(error));
  }
  return doubts;
}

function doubtOf({ message, hint = "" }: GraphformError): CreateDoubt {
  return { message, lift: hint };
}

/** Errors that leave an intent open: its object, or its parent, is in doubt. Only changes that rely on it are refused. */
const leavingOpen: readonly string[] = ["create-ambiguous", "another-object", "absence-unproven"];

type RoundEntry = readonly [string, CreateRound];

/** The open rounds by class, the newest first: its `before` lists the objects of older rounds, so it cannot take one of them. */
function classesOf(state: StateDocument): readonly (readonly RoundEntry[])[] {
  const startedAt = ([id]: RoundEntry): string =>
    intentsOf(id, state)
      .map(([, intent]) => intent.startedAt)
      .sort()
      .at(-1) ?? "";
  const byClass = Map.groupBy(
    Object.entries(state.rounds),
    ([, { kind, classKey }]) => `${kind} ${classKey}`,
  );
  return [...byClass.values()].map((open) =>
    open.toSorted((one, other) => startedAt(other).localeCompare(startedAt(one))),
  );
}

function intentsOf(round: string, { intents }: Pick<StateDocument, "intents">): readonly [Address, Intent][] {
  return Object.entries(intents).filter(([, intent]) => intent.round === round);
}

async function recoverRound(
  id: string,
  round: CreateRound,
  context: ApplyContext,
  saved: Plan | undefined,
  doubts: Map<Address, CreateDoubt>,
): Promise<number> {
  const { clock, journal } = context;
  // Without an answer the time of sending is unknown: a request may have waited for its turn until its run was killed.
  const now = clock.now();
  const endOf = ({ refusedAt }: Intent): number =>
    refusedAt === undefined ? now : Math.min(now, Date.parse(refusedAt));
  const intents = new Map(intentsOf(id, journal.state));
  const lost = [...intents].map(([address, intent]) => ({ address, intent, endedAt: endOf(intent) }));
  if (lost.length === 0) return 0;
  const found = await findInParent(round, lost, context).catch((error: unknown) => {
    if (!isGraphformError(error) || !leavingOpen.includes(error.code)) throw error;
    for (const { address } of lost) {
      if (error.code === "create-ambiguous") doubts.set(address, doubtOf(error));
      const message = `the earlier create of ${address} stays open: ${error.message}`;
      context.emit({ type: "warning", address, message });
    }
    return undefined;
  });
  if (found === undefined) return 0;
  await journal.record(resolution(found, intents, round, context));
  for (const { address, live } of found.found) {
    const message = `${live.id} was created for ${address} by an earlier run whose answer was lost; it is bound now`;
    context.emit({ type: "warning", address, message });
    if (saved !== undefined) assertExpected(address, live.id, saved);
  }
  return found.found.length;
}

/**
 * Finds the objects of lost creates. They are gone with an absent parent, and are not asked for before that is known. If the state does not
 * bind the parent any more, an error of the service counts as "gone with it".
 */
async function findInParent(
  round: CreateRound,
  lost: readonly LostCreate[],
  context: ApplyContext,
): Promise<ResolvedCreates> {
  const { stopping } = context;
  const none: ResolvedCreates = { found: [], absent: lost.map(({ address }) => address) };
  const parents = parentsOf(round.kind, round.place, context);
  for (const watched of parents.filter((parent) => parent !== undefined)) {
    const live = await untilShownOrAbsent(watched, context);
    if (live !== undefined && live.phase.is !== "gone") continue;
    if (await isBlind(watched.kind, [watched.address], context))
      throw unproven(watched, "the service shows nothing else that this state binds either");
    return none;
  }
  return findCreated(round, lost, context).catch((error: unknown): ResolvedCreates => {
    if (!isServiceError(error) || stopping.aborted || !parents.includes(undefined)) throw error;
    return none;
  });
}

/** Throws `plan-stale` if a saved plan has no create for an object that an earlier run has made. */
function assertExpected(address: Address, id: string, saved: Plan): void {
  if (saved.steps.some((step) => step.address === address && step.operation === "create")) return;
  const message = `${id} was created for ${address} by a run that did not finish, and this plan does not know it`;
  throw new GraphformError("plan-stale", message, { hint: "make a new plan", exitCode: 6 });
}
