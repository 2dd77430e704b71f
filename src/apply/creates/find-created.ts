/** @module Finds the objects of creates whose answers were lost: by listing, never by sending again. */
import type { Address } from "../../model/address.ts";
import { GraphformError } from "../../model/errors.ts";
import type { Live } from "../../model/observed.ts";
import { shellWord } from "../../model/shell-word.ts";
import type { CreateRound } from "../../model/state.ts";
import { poll } from "../../polling/poll.ts";
import { type ApplyContext, driverOf } from "../context.ts";
import {
  type Candidate,
  type LostCreate,
  type Match,
  type Matching,
  matchCandidates,
  type Ours,
  unclaimed,
} from "../evidence/candidates.ts";

/** The part of an apply that a search uses. */
export type SearchContext = Pick<
  ApplyContext,
  "kinds" | "drivers" | "profile" | "clock" | "journal" | "stopping"
>;

/** The outcome of a search: the objects that were found, and the creates that made none. */
export interface Found {
  readonly found: readonly Match[];
  readonly absent: readonly Address[];
}

/**
 * Finds the objects of a round's lost creates. Lists the place once the creation grace period of the last of them is over:
 * everything that they can have made is shown by then. Throws `create-ambiguous` (exit 1) where several matchings are possible.
 */
export async function findCreated(
  round: CreateRound,
  lost: readonly LostCreate[],
  context: SearchContext,
): Promise<Found> {
  const { clock, profile } = context;
  const ours = oursOf(round.kind, context);
  const firstSeen = new Map<string, number>();
  let recheckAt = recheckOf(matchCandidates([], lost, ours, clock.now(), profile.timing));
  if (recheckAt > clock.now()) await clock.sleep(recheckAt - clock.now(), context.stopping);
  // The client has repeated failed reads already. A place that cannot be listed now is left to the next run.
  const look = async (): Promise<readonly Candidate[] | Failed> =>
    candidatesOf(round, firstSeen, context).catch((error: unknown): Failed => ({ is: "failed", error }));
  const evaluate = (candidates: readonly Candidate[] | Failed): Decided | Failed | undefined => {
    if ("is" in candidates) return candidates;
    const matching = matchCandidates(candidates, lost, ours, clock.now(), profile.timing);
    recheckAt = recheckOf(matching);
    return matching.is === "wait" ? undefined : matching;
  };
  const polled = await poll(
    {
      look,
      evaluate,
      deadline: Number.POSITIVE_INFINITY,
      notBefore: () => recheckAt,
    },
    context,
  );
  if (polled.is === "timeout") throw new Error("a search without a deadline cannot time out");
  const { verdict } = polled;
  if (verdict.is === "failed") throw verdict.error;
  if (verdict.is === "matched") {
    // An object that a partial list omits may exist.
    const isPartial = driverOf(context, round.kind).isPartial?.(round.place) === true;
    if (isPartial && verdict.absent.length > 0) throw notAllListed(verdict.absent);
    return verdict;
  }
  throw verdict.is === "ambiguous" ? ambiguous(verdict) : doubtful(verdict);
}

function oursOf(name: string, context: SearchContext): Ours {
  const { schema, ownerMark } = context.kinds.named(name);
  const { lineage, resources } = context.journal.state;
  const marks = Object.keys(ownerMark?.({ lineage, address: "" }) ?? {});
  const keepsMarks = Object.values(resources).some(
    ({ kind, recorded }) => kind === name && marks.some((path) => Object.hasOwn(recorded, path)),
  );
  return { schema, lineage, keepsMarks };
}

function notAllListed(absent: readonly Address[]): GraphformError {
  return new GraphformError(
    "create-ambiguous",
    `the answer to creating ${absent.join(", ")} was lost, and the service lists only a part of what it has`,
    {
      hint: `look it up at the service; if it is there: graphform import ${absent[0]} ID, otherwise: graphform state rm ${absent[0]}`,
    },
  );
}

interface Failed {
  readonly is: "failed";
  readonly error: unknown;
}

type Decided = Exclude<Matching, { readonly is: "wait" }>;

function recheckOf(matching: Matching): number {
  return matching.is === "wait" ? matching.recheckAt : 0;
}

async function candidatesOf(
  round: CreateRound,
  firstSeen: Map<string, number>,
  context: SearchContext,
): Promise<readonly Candidate[]> {
  const driver = driverOf(context, round.kind);
  const listed = await driver.list(round.place, context.stopping);
  const now = context.clock.now();
  return Promise.all(
    unclaimed(round, listed, context.journal.state).map(async (id): Promise<Candidate> => {
      const firstSeenAt = firstSeen.get(id) ?? now;
      firstSeen.set(id, firstSeenAt);
      const live = await driver.get({ id, place: round.place }, context.stopping);
      return { id, live, firstSeenAt };
    }),
  );
}

function ambiguous({
  addresses,
  found,
}: Pick<Extract<Matching, { is: "ambiguous" }>, "addresses" | "found">): GraphformError {
  const ids = found.map(({ id }) => id).join(", ");
  const message = `${answersOf(addresses)} lost or refused, and nothing tells which of the new objects are theirs: ${ids}`;
  return new GraphformError("create-ambiguous", message, { hint: wayOut(addresses) });
}

function doubtful({
  addresses,
  found,
}: {
  readonly addresses: readonly Address[];
  readonly found: readonly Live[];
}): GraphformError {
  const ids = found.map(({ id, createdAt }) => `${id} (created ${createdAt})`).join(", ");
  const message = `${answersOf(addresses)} lost, and what appeared since says that it is older: ${ids}`;
  return new GraphformError("create-ambiguous", message, { hint: wayOut(addresses) });
}

function answersOf(addresses: readonly Address[]): string {
  return addresses.length === 1
    ? `the answer to the create of ${addresses[0]} was`
    : `the answers to the creates of ${addresses.join(", ")} were`;
}

function wayOut([first = ""]: readonly Address[]): string {
  const address = shellWord(first);
  return (
    `look at them, then bind each: graphform import ${address} ID; ` +
    `or, if none of them is its object: graphform state rm ${address}`
  );
}
