/** @module Decides which listed objects are those of creates whose answers were lost. Pure. */
import type { Address } from "../../model/address.ts";
import { type Delays, gracePeriod } from "../../model/consistency.ts";
import type { KindSchema } from "../../model/field-schema.ts";
import type { Live } from "../../model/observed.ts";
import { serviceTime } from "../../model/service-time.ts";
import type { CreateRound, Intent, StateDocument } from "../../model/state.ts";
import { traitAt, traitsOf } from "../../model/traits.ts";
import { areInterchangeable, differingPaths } from "./in-flight-together.ts";
import { isSilent, looksAlike } from "./telling-fields.ts";

/** A create that was sent and has no confirmed answer. */
export interface LostCreate {
  readonly address: Address;
  readonly intent: Intent;
  /** The last moment at which its request can have worked, in ms since 1970. */
  readonly endedAt: number;
}

/** A listed object that nobody is bound to. */
export interface Candidate {
  readonly id: string;
  /** Undefined while it is listed and not described. */
  readonly live: Live | undefined;
  /** In ms since 1970. */
  readonly firstSeenAt: number;
}

/** The object of a lost create. */
export interface Match {
  readonly address: Address;
  readonly live: Live;
  /** Fields whose values may be those of another create, so that they have to be set. */
  readonly unsure: readonly string[];
}

/** The verdict on all lost creates together. */
export type Matching =
  | { readonly is: "matched"; readonly found: readonly Match[]; readonly absent: readonly Address[] }
  /** Too early: times are ms since 1970. */
  | { readonly is: "wait"; readonly recheckAt: number }
  /** More candidates than lost creates, or one candidate for two of them. */
  | { readonly is: "ambiguous"; readonly addresses: readonly Address[]; readonly found: readonly Live[] }
  /** A candidate appeared since and shows a creation time before the create: a wrong clock, or somebody else's object. */
  | { readonly is: "doubtful"; readonly addresses: readonly Address[]; readonly found: readonly Live[] };

/** The facts about objects of a kind that this state has created. */
export interface Ours {
  readonly schema: KindSchema;
  readonly lineage: string;
  /** True where one of them was seen to show the mark that its create carried. */
  readonly keepsMarks: boolean;
}

/** The largest difference between the service's clock and ours that is accepted, in ms. */
const skew = 15 * 60_000;

/** Ids of a list that did not exist before the round and that no address is bound to, each once. */
export function unclaimed(
  round: Pick<CreateRound, "before">,
  listed: readonly string[],
  state: Pick<StateDocument, "resources">,
): readonly string[] {
  const bound = new Set(Object.values(state.resources).map((entry) => entry.id));
  const before = new Set(round.before);
  return [...new Set(listed)].filter((id) => !before.has(id) && !bound.has(id));
}

/**
 * Matches candidates and lost creates of the state's `lineage`. Nothing is decided before absence is conclusive for all of
 * them: until then one of ours may be hidden while somebody else's is shown. An object with a mark belongs to the
 * owner that the mark names; an object without one is compared by its fields.
 */
export function matchCandidates(
  candidates: readonly Candidate[],
  lost: readonly LostCreate[],
  { schema, lineage, ...ours }: Ours,
  now: number,
  delays: Delays,
): Matching {
  const recheckAt = Math.max(
    ...lost.map(({ endedAt }) => conclusiveAt(endedAt, now, delays)),
    ...candidates
      .filter(({ live }) => live === undefined)
      .map(({ firstSeenAt }) => conclusiveAt(firstSeenAt, now, delays)),
  );
  if (recheckAt > now) return { is: "wait", recheckAt };
  // An object that is listed and never described is gone; the list is late.
  const described = candidates.flatMap(({ live }) => live ?? []);
  const marked = described.filter((live) => live.phase.is !== "gone" && live.owner?.lineage === lineage);
  const byMark = lost.map((create) => marked.filter((live) => live.owner?.address === create.address));
  const addresses = lost.map(({ address }) => address);
  if (byMark.some((lives) => lives.length > 1)) return { is: "ambiguous", addresses, found: byMark.flat() };
  const sure = lost.flatMap(({ address }, at): Match[] =>
    (byMark[at] ?? []).map((live) => ({ address, live, unsure: [] })),
  );
  const unmarked = lost.filter((_, at) => byMark[at]?.length === 0);
  // Where the service drops marks, an object without one may belong to a marked create or to somebody else.
  const keepsMarks = ours.keepsMarks || described.some(({ owner }) => owner !== undefined && owner !== null);
  const bare = described.filter(
    (live) =>
      !keepsMarks &&
      live.isBare === true &&
      unmarked.some(
        ({ intent }) => intent.marked === true && couldBe(live, intent, schema) && isTimely(live, intent),
      ),
  );
  if (bare.length > 0)
    return { is: "ambiguous", addresses: unmarked.map(({ address }) => address), found: bare };
  const possible = described
    .filter(({ owner }) => owner === undefined || owner === null)
    .map((live) => ({
      live,
      creates: unmarked.filter(
        ({ intent }) => (live.owner === undefined || intent.marked !== true) && couldBe(live, intent, schema),
      ),
    }));
  const relevant = possible.filter(({ creates }) => creates.length > 0);
  const timely = relevant.flatMap(({ live, creates }): Possible[] => {
    const makers = creates.filter(({ intent }) => isTimely(live, intent));
    // A refusal is no proof, but an object that can belong to a lost create is not given to a refused one.
    const answerless = makers.filter(({ intent }) => intent.refused !== true);
    const owners = answerless.length > 0 ? answerless : makers;
    return makers.length === 0 ? [] : [{ live, makers, creates: owners }];
  });
  const pairs = assign(timely, schema);
  if (pairs === undefined) return { is: "ambiguous", addresses, found: timely.map(({ live }) => live) };
  const all = [...sure, ...pairs];
  const found = new Set(all.map(({ address }) => address));
  const absent = addresses.filter((address) => !found.has(address));
  const older = relevant.filter(({ live }) => !timely.some((other) => other.live === live));
  if (absent.length > 0 && older.length > 0)
    return { is: "doubtful", addresses: absent, found: older.map(({ live }) => live) };
  return { is: "matched", found: all, absent };
}

/** True where no field that the object shows speaks against it being what the intent created. */
export function couldBe(live: Live, intent: Pick<Intent, "recorded">, schema: KindSchema): boolean {
  if (live.phase.is === "gone") return false;
  const traits = traitsOf(schema);
  return Object.entries(live.spec).every(([path, seen]) => {
    const wanted = intent.recorded[path];
    if (wanted === undefined || typeof wanted === "object" || seen.source === "recorded") return true;
    const trait = traitAt(traits, path);
    return isSilent(trait, wanted) || looksAlike(wanted, seen.value, trait);
  });
}

/** True where its creation time, if it shows one, does not speak against it either. */
export function isTimely(live: Live, intent: Pick<Intent, "startedAt">): boolean {
  const created = serviceTime(live.createdAt);
  return created === undefined || created >= Date.parse(intent.startedAt) - skew;
}

function conclusiveAt(since: number, now: number, delays: Delays): number {
  const verdict = gracePeriod(since, now, delays);
  return verdict === "over" ? now : verdict.recheckAt;
}

interface Possible {
  readonly live: Live;
  /** Every create that can have made it. */
  readonly makers: readonly LostCreate[];
  /** Those of them whose object it may be, and that have none yet. */
  readonly creates: readonly LostCreate[];
}

/** Gives every object its create; undefined where that would be a guess. */
function assign(possible: readonly Possible[], schema: KindSchema): readonly Match[] | undefined {
  let open = possible;
  const found: Match[] = [];
  // An object with one possible create belongs to it, and no other object does.
  for (let sure = open.find(({ creates }) => creates.length === 1); sure !== undefined; ) {
    const [only] = sure.creates;
    if (only === undefined) return undefined;
    const { live } = sure;
    found.push(matchOf(only, sure, schema));
    open = open
      .filter((other) => other.live !== live)
      .map((other) => ({ ...other, creates: other.creates.filter((create) => create !== only) }));
    sure = open.find(({ creates }) => creates.length <= 1);
  }
  const isGuess = open.some(({ creates: [first, ...others] }) =>
    others.some((other) => first !== undefined && !areInterchangeable(first.intent, other.intent, schema)),
  );
  const rest = isGuess ? undefined : pairOff(open, schema);
  return rest === undefined ? undefined : [...found, ...rest];
}

/** Pairs objects and interchangeable creates in any order (augmenting paths); undefined where one object is left over. */
function pairOff(open: readonly Possible[], schema: KindSchema): readonly Match[] | undefined {
  const taken = new Map<LostCreate, Possible>();
  const assignTo = (object: Possible, tried: Set<LostCreate>): boolean => {
    for (const create of object.creates) {
      if (tried.has(create)) continue;
      tried.add(create);
      const holder = taken.get(create);
      if (holder !== undefined && !assignTo(holder, tried)) continue;
      taken.set(create, object);
      return true;
    }
    return false;
  };
  if (!open.every((object) => assignTo(object, new Set()))) return undefined;
  return [...taken].map(([create, object]) => matchOf(create, object, schema));
}

function matchOf({ address, intent }: LostCreate, { live, makers }: Possible, schema: KindSchema): Match {
  const others = makers.map((maker) => maker.intent);
  return { address, live, unsure: differingPaths(intent, others, schema) };
}
