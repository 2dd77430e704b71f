/** @module Finds the object of every create that an earlier run left open, or proves that there is none. */
import type { Address } from "../../model/address.ts";
import { GraphformError, isGraphformError, isServiceError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import type { CreateRound, Intent } from "../../model/state.ts";
import type { ApplyContext } from "../context.ts";
import { isBlind, parentsOf, unproven, untilShownOrAbsent } from "../engine/look-for-missing.ts";
import type { LostCreate } from "../evidence/candidates.ts";
import { type Found, resolution } from "./create-request.ts";
import { findCreated } from "./find-created.ts";

/**
 * Finds the object of every open create, or proves that there is none. A saved plan that creates such an address goes on
 * with it where its spec is the same; one that does not is stale (exit 6). Returns the number of objects that were found.
 */
export async function recoverIntents(context: ApplyContext, saved?: Plan): Promise<number> {
  const { rounds } = context.journal.state;
  const byClass = Map.groupBy(Object.entries(rounds), ([, { kind, classKey }]) => `${kind} ${classKey}`);
  const found = await Promise.all(
    [...byClass.values()].map(async (open) => {
      let count = 0;
      for (const [id, round] of newestFirst(open, context))
        count += await recoverRound(id, round, context, saved);
      return count;
    }),
  );
  return found.reduce((sum, count) => sum + count, 0);
}

/** Errors that leave an intent open: its parent may be gone, or another object has its id. Its address is refused, and nothing else is. */
const aboutParents: readonly string[] = ["another-object", "absence-unproven"];

/** A round of the state with its id. */
type RoundEntry = readonly [string, CreateRound];

/** The newest round first: its `before` lists what older rounds have made, so it cannot take an object of theirs. */
function newestFirst(open: readonly RoundEntry[], context: ApplyContext): readonly RoundEntry[] {
  const startedAt = ([id]: RoundEntry): string =>
    intentsOf(id, context)
      .map(([, intent]) => intent.startedAt)
      .sort()
      .at(-1) ?? "";
  return open.toSorted((one, other) => startedAt(other).localeCompare(startedAt(one)));
}

function intentsOf(round: string, { journal }: ApplyContext): readonly [Address, Intent][] {
  return Object.entries(journal.state.intents).filter(([, intent]) => intent.round === round);
}

async function recoverRound(
  id: string,
  round: CreateRound,
  context: ApplyContext,
  saved: Plan | undefined,
): Promise<number> {
  const { clock, journal } = context;
  // Without an answer the time of sending is unknown: a request may have waited for its turn until its run was killed.
  const now = clock.now();
  const endOf = ({ refusedAt }: Intent): number =>
    refusedAt === undefined ? now : Math.min(now, Date.parse(refusedAt));
  const intents = new Map(intentsOf(id, context));
  const lost = [...intents].map(([address, intent]) => ({ address, intent, endedAt: endOf(intent) }));
  if (lost.length === 0) return 0;
  const found = await findInParent(round, lost, context).catch((error: unknown) => {
    if (!isGraphformError(error) || !aboutParents.includes(error.code)) throw error;
    for (const { address } of lost) {
      const message = `the earlier create of ${address} stays open: ${error.message}`;
      context.emit({ type: "warning", address, message });
    }
    return undefined;
  });
  if (found === undefined) return 0;
  await journal.record(resolution(found, intents, clock.now()));
  for (const { address, live } of found.found) {
    const message = `${live.id} was created for ${address} by an earlier run whose answer was lost; it is bound now`;
    context.emit({ type: "warning", address, message });
    if (saved !== undefined) assertExpected(address, live.id, saved);
  }
  return found.found.length;
}

/**
 * Finds the objects of lost creates. They are gone with a parent that is absent, and are not asked for before that is known.
 * If the state does not bind the parent any more, an error of the service counts as "gone with it".
 */
async function findInParent(
  round: CreateRound,
  lost: readonly LostCreate[],
  context: ApplyContext,
): Promise<Found> {
  const { stopping } = context;
  const none: Found = { found: [], absent: lost.map(({ address }) => address) };
  const parents = parentsOf(round.kind, round.place, context);
  for (const watched of parents.filter((parent) => parent !== undefined)) {
    const live = await untilShownOrAbsent(watched, context);
    if (live !== undefined && live.phase.is !== "gone") continue;
    if (await isBlind(watched.kind, [watched.address], context))
      throw unproven(watched, "the service shows nothing else that this state binds either");
    return none;
  }
  return findCreated(round, lost, context).catch((error: unknown): Found => {
    if (!isServiceError(error) || stopping.aborted || !parents.includes(undefined)) throw error;
    return none;
  });
}

/** Throws `plan-stale` where a saved plan has no create for an object that an earlier run has made. */
function assertExpected(address: Address, id: string, saved: Plan): void {
  if (saved.steps.some((step) => step.address === address && step.operation === "create")) return;
  throw new GraphformError(
    "plan-stale",
    `${id} was created for ${address} by a run that did not finish, and this plan does not know it`,
    { hint: "make a new plan", exitCode: 6 },
  );
}
