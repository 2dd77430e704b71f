/** @module Finds the objects of creates whose answers were lost: by listing, never by sending again. */
import { serviceTime } from "../../model/clock.ts";
import {
  absence,
  gracePeriod,
  haveEnded,
  isConfirmed,
  isSeen,
  type Look,
  spentAt,
  type Testimony,
} from "../../model/consistency.ts";
import type { GraphformError } from "../../model/errors.ts";
import type { Reader } from "../../model/kind.ts";
import type { Live } from "../../model/observed.ts";
import type { Timing } from "../../model/service.ts";
import type { Bound, CreateRound, StateDocument } from "../../model/state.ts";
import type { Journal } from "../../model/state-event.ts";
import { poll } from "../../polling/poll.ts";
import { lookOnce, placeWithWitnesses } from "../../polling/prove-absence.ts";
import { type ApplyContext, driverOf } from "../context.ts";
import { isBlind, type LookContext } from "../engine/watch-missing.ts";
import {
  type LostCreate,
  type Matching,
  matchCandidates,
  type Ours,
  unclaimed,
} from "../evidence/candidates.ts";
import { type ResolvedCreates, unresolved } from "./create-request.ts";

export type SearchContext = LookContext &
  Pick<ApplyContext, "dateOf"> & { readonly journal: Pick<Journal, "state" | "record"> };

/**
 * Finds the objects of a round's lost creates, once the creation grace period of the last of them is over: one whole list finds objects,
 * "nothing was made" takes two, `settle` apart. Throws `create-ambiguous` (exit 1) if the looks prove neither.
 */
export async function findCreated(
  round: CreateRound,
  lost: readonly LostCreate[],
  context: SearchContext,
): Promise<ResolvedCreates> {
  const { clock, profile, stopping } = context;
  const { timing } = profile;
  const endedAt = Math.max(...lost.map((create) => create.endedAt));
  const firstAt = spentAt(endedAt, timing);
  if (firstAt > clock.now()) await clock.sleep(firstAt - clock.now(), stopping);
  const reader = driverOf(context, round.kind);
  const lives = new Map<string, Live>();
  const looks: Look[] = [];
  const findings = new Map<Look, string>();
  const named = lost.flatMap(({ intent }) => intent.acknowledged ?? []);
  const acknowledged = new Set(unclaimed(round, lost, named, context.journal.state));
  const candidates = new Set(acknowledged);
  /** Looks that show no bound object: they can find objects, and cannot prove an absence. */
  const blindLooks = new Set<Look>();
  let until: number | undefined;
  let recheckAt = 0;
  const candidatesIn = (listed: ReadonlySet<string> | undefined): readonly string[] => {
    for (const id of unclaimed(round, lost, [...(listed ?? [])], context.journal.state)) candidates.add(id);
    return [...candidates];
  };
  /** The first time that the service shows is kept, so that a later run does not take an object that is made meanwhile. */
  const noteTime = async (): Promise<void> => {
    until = context.dateOf(round.kind);
    if (until === undefined) return;
    const sentBefore = new Date(until).toISOString();
    const addresses = lost.flatMap(({ address, intent }) =>
      intent.sentBefore === undefined ? [address] : [],
    );
    if (addresses.length > 0) await context.journal.record({ type: "creates-lost", addresses, sentBefore });
  };
  const evaluate = (seen: Look): ResolvedCreates | undefined => {
    const grace = gracePeriod(endedAt, seen.from, timing);
    recheckAt = grace === "over" ? 0 : grace.recheckAt;
    if (grace !== "over") return undefined;
    looks.push(seen);
    // The service has named an acknowledged id itself: its absence is proved as that of an object made when this search began.
    const madeAt = (id: string): number =>
      acknowledged.has(id) ? (looks[0]?.from ?? Number.NaN) : Number.NaN;
    const open = [...candidates].filter((id) => absence(id, madeAt(id), looks, timing) !== "absent");
    const hidden = open.filter((id) => !isSeen(id, seen));
    if (hidden.length === 0) {
      const shown = open.flatMap((id) => lives.get(id) ?? []);
      const matching = matchCandidates(shown, lost, {
        ...oursOf(round.kind, lost, context, context.journal.state),
        until,
      });
      if (matching.is !== "matched") throw unsettled(matching);
      const isSure = matching.absent.length === 0 || !blindLooks.has(seen);
      // The list before the round has lacked an older object: a moment is not enough for the others then.
      const apart = shown.some((live) => lost.every((each) => isOlder(live, each, timing)));
      if (isSure && isProved(matching, looks, findings, apart ? timing.listLag : timing.settle))
        return matching;
    }
    const unproved =
      hidden.length > 0 ? hidden : [...seen.described.keys()].filter((id) => !seen.listed?.has(id));
    if (haveEnded(looks, timing)) throw contradicted(lost, unproved, blindLooks.has(seen));
    return undefined;
  };
  const resolved = await poll(
    {
      look: async () => {
        const place = placeWithWitnesses(round, reader, context.journal.state, round.before);
        const seen = await lookOnce(candidatesIn, place, lives, context);
        if (seen.listed !== undefined && until === undefined) await noteTime();
        const own = lost.map(({ address }) => address);
        const isAnyShown = [...place.witnesses.keys()].some((id) => seen.listed?.has(id) || isSeen(id, seen));
        if (!isAnyShown && (await isBlind(round.kind, own, context))) blindLooks.add(seen);
        return seen;
      },
      evaluate,
      notBefore: () => recheckAt,
    },
    context,
  );
  if (resolved === undefined) throw new Error("a search without a deadline cannot time out");
  return resolved;
}

/** Looks once for the objects of lost creates. Returns an error if an object could be that of several; undefined does not mean that none was made. */
export async function doubtAbout(
  round: CreateRound,
  lost: readonly LostCreate[],
  state: StateDocument,
  {
    reader,
    ...context
  }: Pick<SearchContext, "kinds" | "profile" | "clock" | "stopping"> & { readonly reader: Reader },
): Promise<GraphformError | undefined> {
  const lives = new Map<string, Live>();
  const place = placeWithWitnesses(round, reader, state, round.before);
  const named = lost.flatMap(({ intent }) => intent.acknowledged ?? []);
  await lookOnce(
    (listed = new Set()) => unclaimed(round, lost, [...named, ...listed], state),
    place,
    lives,
    context,
  );
  const ours = oursOf(round.kind, lost, context, state);
  const matching = matchCandidates([...lives.values()], lost, { ...ours, until: Number.POSITIVE_INFINITY });
  return matching.is === "matched" ? undefined : unsettled(matching);
}

/** True if an object shows that it was created before a create was announced. */
function isOlder({ createdAt }: Live, { intent }: LostCreate, { clock }: Pick<Timing, "clock">): boolean {
  return (serviceTime(createdAt) ?? Number.NaN) < (serviceTime(intent.sentAfter) ?? Number.NaN) - clock;
}

/**
 * True if the looks prove the result of the newest one: at once if each create has an object, else by two that agree `apart`. Throws
 * `create-ambiguous` if a partial list may omit an object.
 */
function isProved(
  { found, absent }: ResolvedCreates,
  looks: readonly Look[],
  findings: Map<Look, string>,
  apart: number,
): boolean {
  const seen = looks.at(-1);
  if (seen === undefined || !(seen.isWhole || seen.isPartial)) return false;
  if (absent.length === 0) return true;
  const finding = JSON.stringify([found.map(({ live }) => live.id), absent]);
  findings.set(seen, finding);
  const testimony = (look: Look): Testimony => {
    const earlier = findings.get(look);
    return earlier === undefined ? "nothing" : earlier === finding ? "for" : "against";
  };
  if (!isConfirmed(looks, testimony, apart)) return false;
  if (seen.isPartial) throw unresolved(absent, "the service lists only a part of what it has");
  return true;
}

/** Clocks of runs may be wrong by so many ms. A service that writes local times is wrong by more. */
const clocksApart = 5 * 60_000;

/** True if the service shows the newest bound object as created when the state says it was. Intents show how far its clock is from ours. */
function keepsTimes(bound: readonly Bound[], lost: readonly LostCreate[]): boolean {
  const newest = bound
    .filter(({ shownCreatedAt }) => shownCreatedAt !== undefined)
    .toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))[0];
  const shown = serviceTime(newest?.shownCreatedAt) ?? Number.NaN;
  const ahead = shown - Date.parse(newest?.createdAt ?? "");
  const differences = lost.flatMap(({ intent: { sentAfter, startedAt } }) => {
    const date = serviceTime(sentAfter);
    return date === undefined ? [] : [date - Date.parse(startedAt)];
  });
  return [0, ...differences].some((difference) => Math.abs(ahead - difference) <= clocksApart);
}

function oursOf(
  name: string,
  lost: readonly LostCreate[],
  { kinds, profile }: Pick<SearchContext, "kinds" | "profile">,
  { lineage, resources }: StateDocument,
): Omit<Ours, "until"> {
  const { schema, ownerMark, namedBy } = kinds.named(name);
  const marks = Object.keys(ownerMark({ lineage, address: "" }));
  const keepsMarks = Object.values(resources).some(
    ({ kind, recorded }) => kind === name && marks.some((path) => Object.hasOwn(recorded, path)),
  );
  const keepsTime = keepsTimes(
    Object.values(resources).filter(({ kind }) => kind === name),
    lost,
  );
  return { schema, lineage, keepsMarks, keepsTime, namedBy, clock: profile.timing.clock };
}

/** The error if objects are shown that cannot be assigned to the creates for certain. */
function unsettled({
  is,
  addresses,
  ...shown
}: Exclude<Matching, { readonly is: "matched" }>): GraphformError {
  const found = shown.found.toSorted((one, other) => one.id.localeCompare(other.id));
  if (is === "ambiguous") {
    const ids = found.map(({ id }) => id).join(", ");
    return unresolved(addresses, `nothing tells which of the new objects are theirs: ${ids}`);
  }
  const ids = found.map(({ id, createdAt }) =>
    serviceTime(createdAt) === undefined ? `${id} (of unknown age)` : `${id} (created ${createdAt})`,
  );
  return unresolved(addresses, `neither time nor mark proves whether these are theirs: ${ids.join(", ")}`);
}

/** The error if lists and descriptions went on contradicting each other about `ids`, or showed nothing that is bound. */
function contradicted(
  lost: readonly LostCreate[],
  ids: readonly string[],
  isNothing: boolean,
): GraphformError {
  const about = isNothing
    ? "the service shows nothing of what this state binds, as after lost rights"
    : ids.length === 0
      ? "the list of its place cannot be read"
      : `lists and descriptions contradict each other about ${ids.join(", ")}`;
  return unresolved(
    lost.map(({ address }) => address),
    `nothing proves what was made: ${about}`,
  );
}
