/**
 * @module Computes the pace of requests to one host: how many are under way, and a token bucket. More are under way while reads are answered
 * as quickly and nothing is refused. The first refusal (429) leaves as many as were taken at once. If these are too many as well, the host
 * counts by the second: then reads that are taken add to a rate, and a refusal halves it. Writes follow the reads: one is sent only if a read was
 * taken beside as many requests, and while any is under way one read at a time tries more. Pure data; times are ms since 1970.
 */
import type { Limits } from "../../model/service.ts";

export interface HostPace {
  /** Requests that are under way, how many may be, and how many of them are writes. */
  readonly underWay: number;
  readonly width: number;
  readonly writes: number;
  /** The largest width: it is declared, or there are no more connections. */
  readonly widest: number;
  /** The most requests under way of which the host has taken the last. At first a number that few hosts refuse, or the declared one. */
  readonly proven: number;
  /** The most writes under way. */
  readonly mostWrites: number;
  /** The quickest answer to a read so far, in ms. */
  readonly quickest: number;
  /** Requests per second; Infinity if none is declared and nothing was refused. */
  readonly perSecond: number;
  /** The declared rate: never more. */
  readonly most: number;
  /** Requests that may start at once after a rest, if that is declared. */
  readonly burst: number | undefined;
  /** When the bucket is full again. */
  readonly fullAt: number;
  /** No request starts before this time, as the host asked. */
  readonly pausedUntil: number;
  /** When the last refusal slowed the pace down. Requests sent before were too fast at the old pace, and say nothing about the new one. */
  readonly slowedAt: number;
  /** True from the first refusal to the second if none is declared: the rate is searched for, and grows faster. */
  readonly isSearching: boolean;
}

/** Requests under way at the start, if nothing is declared. */
const usualWidth = 32;
const widestUndeclared = 256;

/** Requests beside which a write is sent at the start, and most writes, if nothing is declared: a create that is refused has to be looked for. */
const [firstProven, usualWrites] = [4, 32];

/** An answer is quick if it takes at most so many times as long as the quickest. */
const quickFactor = 1.5;

/** The first rate, if none is declared. */
const firstRate = 20;
const leastPerSecond = 0.2;

/** Added to the rate by each accepted read: doubled in 14 s, and in a third of a second while it is searched for. */
const step = { usual: 0.05, searching: 2 };

/** The pause after a 429 that names none, in ms: most services count by the second. */
const usualPause = 1000;

/** The part of a declared rate that is used: networks may deliver requests in bursts. */
const usedOfDeclared = 0.95;

/** Size of an undeclared bucket, in seconds of its rate: timers are no finer. */
const undeclaredBurst = 0.01;

/** The pace before the first request. `parallelism` is the most that the user wants under way, whatever the host takes. */
export function newHostPace({ inFlight, perSecond, burst }: Limits = {}, parallelism?: number): HostPace {
  const most = usedOfDeclared * (perSecond ?? Number.POSITIVE_INFINITY);
  const together = inFlight === undefined ? parallelism : Math.min(inFlight, parallelism ?? inFlight);
  return {
    underWay: 0,
    width: together ?? usualWidth,
    widest: together ?? widestUndeclared,
    writes: 0,
    proven: inFlight ?? firstProven,
    mostWrites: inFlight ?? usualWrites,
    quickest: Number.POSITIVE_INFINITY,
    perSecond: most,
    most,
    burst,
    fullAt: 0,
    pausedUntil: 0,
    slowedAt: Number.NEGATIVE_INFINITY,
    isSearching: false,
  };
}

/** When the next request may start. Infinity while as many are under way as may be: the next that ends makes room. */
export function startOf(pace: HostPace, isWrite: boolean): number {
  const { width, underWay, writes, proven, mostWrites } = pace;
  const tried = isWrite ? proven : writes === 0 ? width : proven + 1;
  if (underWay >= Math.min(width, tried) || (isWrite && writes >= mostWrites))
    return Number.POSITIVE_INFINITY;
  return Math.max(pace.pausedUntil, pace.fullAt - (sizeOf(pace) - 1) * gapOf(pace));
}

export function started(pace: HostPace, isWrite: boolean, now: number): HostPace {
  const writes = pace.writes + (isWrite ? 1 : 0);
  return { ...pace, underWay: pace.underWay + 1, writes, fullAt: Math.max(now, pace.fullAt) + gapOf(pace) };
}

export function ended(pace: HostPace, isWrite: boolean): HostPace {
  return { ...pace, underWay: pace.underWay - 1, writes: pace.writes - (isWrite ? 1 : 0) };
}

/** True if requests follow each other at half of the rate or more: only then does their acceptance confirm the rate. */
export function isUsed(pace: HostPace, now: number): boolean {
  return pace.fullAt + gapOf(pace) > now;
}

/** A request as it was sent. */
export interface Sent {
  readonly at: number;
  /** The requests that were under way then, with this one. */
  readonly together: number;
  /** True if the rate was used. */
  readonly wasUsed: boolean;
}

/** The host took a read: one more may be under way if all were, it was quick, and nothing was refused. If the rate was used, it rises. */
export function taken(pace: HostPace, { at, together, wasUsed }: Sent, now: number): HostPace {
  if (at <= pace.slowedAt) return pace;
  const quickest = Math.min(pace.quickest, now - at);
  const isFree = pace.slowedAt === Number.NEGATIVE_INFINITY && pace.underWay >= pace.width;
  const wider = isFree && now - at <= quickFactor * quickest ? 1 : 0;
  const faster = wasUsed ? (pace.isSearching ? step.searching : step.usual) : 0;
  return {
    ...pace,
    quickest,
    width: Math.min(pace.widest, pace.width + wider),
    proven: Math.max(pace.proven, together),
    perSecond: Math.min(pace.most, pace.perSecond + faster),
  };
}

export interface PaceRefusal {
  readonly sentAt: number;
  /** True for 429; false for 503 with a Retry-After. */
  readonly isTooMuch: boolean;
  /** Pause that the host asks for, in ms. */
  readonly retryAfter?: number;
}

/** All requests pause as long as the host says; the pace is reduced once for all requests that were under way. */
export function refused(pace: HostPace, refusal: PaceRefusal, now: number): HostPace {
  const { sentAt, isTooMuch, retryAfter = usualPause } = refusal;
  const pausedUntil = Math.max(pace.pausedUntil, now + retryAfter);
  const paused = { ...pace, pausedUntil };
  const { underWay, slowedAt, perSecond, width } = pace;
  if (!isTooMuch) return paused;
  const isUncounted = perSecond === Number.POSITIVE_INFINITY;
  const isOfBefore = sentAt <= slowedAt;
  if (isOfBefore && !isUncounted) return paused;
  // The number of requests that the host takes at once: those under way together that were not refused, if more than one.
  const left = (isOfBefore ? width : Math.min(width, underWay)) - 1;
  if (isOfBefore && left > 1) return { ...paused, width: left };
  if (slowedAt === Number.NEGATIVE_INFINITY && isUncounted && left > 1)
    return { ...paused, width: left, slowedAt: now };
  const slower = {
    ...paused,
    width: Math.max(width, Math.min(usualWidth, pace.widest)),
    perSecond: isUncounted ? firstRate : Math.max(leastPerSecond, perSecond / 2),
    slowedAt: now,
    isSearching: isUncounted,
  };
  // The pause adds no tokens: the host's own bucket is empty.
  return { ...slower, fullAt: pausedUntil + sizeOf(slower) * gapOf(slower) };
}

function sizeOf({ burst, perSecond }: HostPace): number {
  if (burst !== undefined) return burst;
  return perSecond === Number.POSITIVE_INFINITY ? 1 : Math.max(1, perSecond * undeclaredBurst);
}

/** The time in which the bucket gains a token, in ms. */
function gapOf({ perSecond }: HostPace): number {
  return 1000 / perSecond;
}
