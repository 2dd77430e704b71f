/** @module Decides which listed objects are those of creates whose answers were lost. Pure. */
import { type Address, withoutTwin } from "../../model/address.ts";
import { serviceTime } from "../../model/clock.ts";
import { fieldRows, type KindSchema, rowAt } from "../../model/field-schema.ts";
import type { Live } from "../../model/observed.ts";
import type { CreateRound, Intent, StateDocument } from "../../model/state.ts";
import { areInterchangeable, differingPaths, isSilent, looksAlike } from "./in-flight-together.ts";
import { type Timeliness, timeliness } from "./time-window.ts";

/** A create that was sent and has no confirmed answer. */
export interface LostCreate {
  readonly address: Address;
  readonly intent: Intent;
  /** The last moment at which its request can have worked, in ms since 1970. */
  readonly endedAt: number;
}

export interface Match {
  readonly address: Address;
  readonly live: Live;
  /** Fields whose values may be those of another create, so that they have to be set. */
  readonly unsure: readonly string[];
}

export type Matching =
  | { readonly is: "matched"; readonly found: readonly Match[]; readonly absent: readonly Address[] }
  /** More candidates than lost creates, or one candidate for two of them. */
  | { readonly is: "ambiguous"; readonly addresses: readonly Address[]; readonly found: readonly Live[] }
  /** An object has appeared since, and neither its time nor its mark proves whose it is. */
  | { readonly is: "doubtful"; readonly addresses: readonly Address[]; readonly found: readonly Live[] };

/** The facts about objects of a kind that this state has created. */
export interface Ours {
  readonly schema: KindSchema;
  readonly lineage: string;
  /** True if one of them was seen to show the mark that its create carried. */
  readonly keepsMarks: boolean;
  /** The field that tells objects of one place apart for the service itself. */
  readonly namedBy?: string | undefined;
  /** True if the newest of them was seen to show the time of its creation: then the shown times can be trusted, and an old one means an old object. */
  readonly keepsTime: boolean;
  /** The service's time at which the lost creates can no longer have worked, in ms since 1970. */
  readonly until: number | undefined;
  /** Tolerance between the clocks of the service, in ms. */
  readonly clock: number;
}

/** Ids of a list that did not exist before the round and belong to no other address, each once. */
export function unclaimed(
  round: Pick<CreateRound, "before">,
  lost: readonly Pick<LostCreate, "address">[],
  listed: readonly string[],
  state: Pick<StateDocument, "resources" | "intents">,
): readonly string[] {
  const own = new Set(lost.map(({ address }) => address));
  const taken = new Set([
    ...round.before,
    ...Object.values(state.resources).map((entry) => entry.id),
    ...Object.entries(state.intents).flatMap(([address, intent]) =>
      own.has(address) ? [] : (intent.acknowledged ?? []),
    ),
  ]);
  return [...new Set(listed)].filter((id) => !taken.has(id));
}

/** Matches new objects and lost creates of the state's `lineage`. Call it once every object that they can have made is shown. */
export function matchCandidates(
  described: readonly Live[],
  lost: readonly LostCreate[],
  given: Ours,
): Matching {
  // An object that shows the very time of a lost create proves that the service's times can be compared.
  const isTimed = described.some((live) =>
    lost.some(({ intent }) => timeOf(live, intent, given) === "within"),
  );
  const ours = { ...given, keepsTime: given.keepsTime || isTimed };
  const addresses = lost.map(({ address }) => address);
  const there = described.filter(({ phase }) => phase.is !== "gone");
  const marked = new Set(there.map((live) => ownAddress(live, ours)));
  const judged = there.map((live) => {
    // A create whose mark is shown has no other object.
    const open = live.owner ? lost : lost.filter(({ address }) => !marked.has(withoutTwin(address)));
    const named = lost.filter(({ intent }) => intent.acknowledged === live.id);
    if (named.length > 0) return { live, makers: named, doubtful: [] };
    const byVerdict = Map.groupBy(open, (create) => belonging(live, create, ours));
    return { live, makers: byVerdict.get("ours") ?? [], doubtful: byVerdict.get("unclear") ?? [] };
  });
  const possible = judged.filter(({ makers }) => makers.length > 0);
  // A refusal is no proof, but an object goes to a refused create only if the lost ones cannot have made all of them.
  const byLost = possible.map((object): Possible => {
    const answerless = object.makers.filter(({ intent }) => intent.refused !== true);
    return { ...object, creates: answerless.length > 0 ? answerless : object.makers };
  });
  const byAny = possible.map((object): Possible => ({ ...object, creates: lostFirst(object.makers) }));
  const pairs = assign(byLost, ours.schema) ?? assign(byAny, ours.schema);
  if (pairs === undefined) return { is: "ambiguous", addresses, found: possible.map(({ live }) => live) };
  const found = new Set(pairs.map(({ address }) => address));
  const absent = addresses.filter((address) => !found.has(address));
  const inDoubt = judged.filter(
    ({ makers, doubtful }) => makers.length === 0 && doubtful.some(({ address }) => absent.includes(address)),
  );
  if (inDoubt.length > 0)
    return { is: "doubtful", addresses: absent, found: inDoubt.map(({ live }) => live) };
  return { is: "matched", found: pairs, absent };
}

/** The creates in an order in which a refused one gets an object after all others. */
function lostFirst(creates: readonly LostCreate[]): readonly LostCreate[] {
  return creates.toSorted(
    (one, other) => Number(one.intent.refused ?? 0) - Number(other.intent.refused ?? 0),
  );
}

/** The address in the mark of this state that an object shows. */
function ownAddress({ owner }: Live, { lineage }: Pick<Ours, "lineage">): Address | undefined {
  return owner?.lineage === lineage ? owner.address : undefined;
}

/** Decides whether an object that was not listed before is the one of a lost create. */
function belonging(
  live: Live,
  { address, intent }: Pick<LostCreate, "address" | "intent">,
  ours: Ours,
): "ours" | "another's" | "unclear" {
  const { schema, keepsMarks, keepsTime, namedBy, until, clock } = ours;
  const lacksMark = live.owner === null && intent.marked === true;
  if (lacksMark && (keepsMarks || live.isBare !== true)) return "another's";
  if (live.owner && ownAddress(live, ours) !== withoutTwin(address)) return "another's";
  if (live.owner && keepsMarks) return "ours";
  // A marked object may have been changed outside since.
  if (!couldBe(live, intent, schema)) return live.owner ? "unclear" : "another's";
  const name = namedBy === undefined ? undefined : live.spec[namedBy]?.value;
  if (namedBy !== undefined && name !== undefined)
    return name === intent.recorded[namedBy] ? "ours" : "another's";
  const time = timeOf(live, intent, { until, clock });
  if (time === "ages-before" || (time === "long-before" && keepsTime)) return "another's";
  const isLockedOut = intent.lockedOut?.includes(live.id) === true;
  return time === "within" && !lacksMark && !isLockedOut ? "ours" : "unclear";
}

/** Compares the time that an object shows with that of a lost create. A refusal is written after the request had its effect, if it had one. */
function timeOf(live: Live, intent: Intent, { until, clock }: Pick<Ours, "until" | "clock">): Timeliness {
  const since = serviceTime(intent.sentAfter);
  return timeliness(live.createdAt, { since, until: serviceTime(intent.sentBefore) ?? until }, { clock });
}

/** True if no field that the object shows contradicts the intent. */
export function couldBe(
  live: Pick<Live, "spec">,
  intent: Pick<Intent, "recorded">,
  schema: KindSchema,
): boolean {
  const rows = fieldRows(schema);
  return Object.entries(live.spec).every(([path, seen]) => {
    const wanted = intent.recorded[path];
    if (wanted === undefined || typeof wanted === "object" || seen.source === "recorded") return true;
    const row = rowAt(rows, path);
    return isSilent(row, wanted) || looksAlike(wanted, seen.value, row);
  });
}

interface Possible {
  readonly live: Live;
  /** Every create that can have made it. */
  readonly makers: readonly LostCreate[];
  /** Those of them whose object it may be, and that have none yet. */
  readonly creates: readonly LostCreate[];
}

/** Gives every object its create; undefined if that would be a guess. */
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

/** Pairs objects and interchangeable creates in any order (augmenting paths); undefined if one object is left over. */
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
