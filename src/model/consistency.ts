/** @module Decides what the service may still hide, and what proves that something is not there. Only this file reads `timing.listLag` and `timing.settle`. */
import type { Live } from "./observed.ts";
import type { Timing } from "./service.ts";

/** The two promises of a profile about delays, in ms. */
export type Delays = Pick<Timing, "listLag" | "settle">;

/** `over` once everything that was created is shown; otherwise the time at which it will be, in ms since 1970. */
export type GracePeriod = "over" | { readonly recheckAt: number };

/**
 * The creation grace period: lists and describe may omit an object for up to `listLag` after `createdAt`, the latest time at
 * which it can have been created. Times are ms since 1970; a `createdAt` of NaN means long ago.
 */
export function gracePeriod(
  createdAt: number,
  now: number,
  { listLag }: Pick<Delays, "listLag">,
): GracePeriod {
  const recheckAt = createdAt + listLag;
  return now < recheckAt ? { recheckAt } : "over";
}

/** The answer of describe about one id: an object, an object that is being deleted, or 404. */
export type Sight = "shown" | "leaving" | "missing";

/** The answers of one look at a place. Times are ms since 1970. */
export interface Answers {
  /** The time before its first request, and the time after its last answer. */
  readonly from: number;
  readonly until: number;
  /** The ids that the list of the place shows; undefined if it could not be read. */
  readonly listed: ReadonlySet<string> | undefined;
  /** The service says that the list is not all. */
  readonly isPartial: boolean;
  /** The answers of describe by id. An id is not among them if it was not asked for, or if the answer was an error. */
  readonly described: ReadonlyMap<string, Sight>;
}

/** One look at a place, judged once for all ids that are looked for. */
export interface Look extends Answers {
  readonly isWhole: boolean;
}

/**
 * The ids of a place that are known to exist or to have existed: bound, acknowledged, or in the first list of a round. Id -> the latest
 * time at which it can have been created, in ms since 1970; NaN means long ago.
 */
export type Witnesses = ReadonlyMap<string, number>;

/** The ids older than `listLag` that a list lacks: a look describes them before its list proves anything. */
export function lackedWitnesses(
  { from, listed }: Pick<Answers, "from" | "listed">,
  witnesses: Witnesses,
  delays: Delays,
): readonly string[] {
  return [...witnesses].flatMap(([id, createdAt]) =>
    listed?.has(id) === true || gracePeriod(createdAt, from, delays) !== "over" ? [] : [id],
  );
}

/** True if the list of a look is complete: it was read, is not partial, and lacks no id that describe shows. */
export function isWhole(answers: Answers, witnesses: Witnesses, delays: Delays): boolean {
  if (answers.listed === undefined || answers.isPartial) return false;
  return lackedWitnesses(answers, witnesses, delays).every((id) => {
    const sight = answers.described.get(id);
    return sight === "missing" || sight === "leaving";
  });
}

export type Testimony = "for" | "against" | "nothing";

/** True if two looks, of which one began `apart` ms or more after the other had ended, speak for a claim, and none since speaks against it. */
export function isConfirmed(
  looks: readonly Look[],
  testimony: (look: Look) => Testimony,
  apart: number,
): boolean {
  const contrary = looks.findLastIndex((look) => testimony(look) === "against");
  const agreeing = looks.slice(contrary + 1).filter((look) => testimony(look) === "for");
  const [first, last] = [agreeing[0], agreeing.at(-1)];
  return first !== undefined && last !== undefined && last !== first && last.from - first.until >= apart;
}

/** The verdict on an id that was missing. `undecided`: look again. `in-doubt`: the looks have ended without proof. */
export type Absence = "shown" | "absent" | "undecided" | "in-doubt";

/**
 * Judges an id by all looks for it, in the order of their times. It is shown if the last look describes it. It is absent if it is not described
 * and not in a whole list in two looks `settle` apart, or if lists show it for `listLag` while describe does not. Looks within
 * `listLag` of `createdAt` prove nothing. The looks end `listLag` + 2 `settle` after the first that can prove anything.
 */
export function absence(id: string, createdAt: number, looks: readonly Look[], delays: Delays): Absence {
  const newest = looks.at(-1);
  if (newest !== undefined && isSeen(id, newest)) return "shown";
  const able = looks.filter(({ from }) => gracePeriod(createdAt, from, delays) === "over");
  const isMissing = (look: Look): Testimony => {
    if (isSeen(id, look) || look.listed?.has(id) === true) return "against";
    return look.described.get(id) === "missing" && look.isWhole ? "for" : "nothing";
  };
  const isLeftOver = (look: Look): Testimony => {
    if (isSeen(id, look)) return "against";
    return look.described.get(id) === "missing" && look.listed?.has(id) === true ? "for" : "nothing";
  };
  const { listLag, settle } = delays;
  if (isConfirmed(able, isMissing, settle) || isConfirmed(able, isLeftOver, listLag)) return "absent";
  return haveEnded(able, delays) ? "in-doubt" : "undecided";
}

/** True once conclusive looks have gone on for `listLag` + 2 `settle`: an object that they did not prove absent is in doubt then. */
export function haveEnded(able: readonly Look[], delays: Delays): boolean {
  const [first, last] = [able[0], able.at(-1)];
  return first !== undefined && last !== undefined && last.from >= first.until + longestSearch(delays);
}

/** The time after which looks that can prove something end, in ms. */
export function longestSearch({ listLag, settle }: Delays): number {
  return listLag + 2 * settle;
}

/** True if describe has shown the id in this look, or has shown it being deleted. */
export function isSeen(id: string, { described }: Look): boolean {
  const sight = described.get(id);
  return sight === "shown" || sight === "leaving";
}

/** A resource as shown before an operation was accepted; undefined if it did not exist. */
export type Baseline = Pick<Live, "phase" | "modifiedAt"> | undefined;

/**
 * True if the shown status is newer than an operation that the service accepted at `acceptedAt`: right after a 202 the
 * previous status may still show. It is later if status or modification time moved, or once `settle` has passed.
 */
export function isCurrent(
  baseline: Baseline,
  live: Pick<Live, "phase" | "modifiedAt">,
  acceptedAt: number,
  now: number,
  { settle }: Pick<Delays, "settle">,
): boolean {
  if (baseline === undefined || baseline.phase.is !== live.phase.is) return true;
  const hasMoved = live.modifiedAt !== undefined && live.modifiedAt !== baseline.modifiedAt;
  return hasMoved || isSettleOver(acceptedAt, now, { settle });
}

/** True once a status that is shown can no longer be that from before the operation accepted at `acceptedAt`. */
export function isSettleOver(acceptedAt: number, now: number, { settle }: Pick<Delays, "settle">): boolean {
  return !(now < acceptedAt + settle);
}

/** The longest time in ms for which a request without an answer may still be on its way to its work. */
const longestUnderWay = 5000;

/** The time from which a request whose answer was lost at `endedAt` can no longer begin to work, in ms since 1970. */
export function spentAt(endedAt: number, { settle }: Pick<Delays, "settle">): number {
  return endedAt + Math.min(settle, longestUnderWay);
}
