/**
 * @module Computes the pace of requests to one host: a token bucket with a declared rate, or with one that it learns. Reads
 * that are accepted add to the rate, a refusal (429) halves it. Pure data; times are ms since 1970.
 */
import type { Limits } from "../../model/profile.ts";

export interface HostPace {
  /** Requests per second; Infinity if none is declared and nothing was refused. */
  readonly perSecond: number;
  /** The declared rate: never more. */
  readonly most: number;
  /** Requests that may start at once after a rest, if that is declared. */
  readonly burst: number | undefined;
  /** When the bucket is full again. */
  readonly fullAt: number;
  /** Nothing starts before: the host said so. */
  readonly pausedUntil: number;
  /** When the rate was halved. Requests sent before were too fast at the old rate, and say nothing about the new one. */
  readonly halvedAt: number;
  /** True from the first refusal to the second if none is declared: the rate is searched for, and grows faster. */
  readonly isSearching: boolean;
}

/** The rate after the first refusal, if none is declared. */
const afterFirstRefusal = 20;
const leastPerSecond = 0.2;

/** Added to the rate by each accepted read: doubled in 14 s, and in a third of a second while it is searched for. */
const step = { usual: 0.05, searching: 2 };

/** The pause after a 429 that names none, in ms: most services count by the second. */
const usualPause = 1000;

/** The part of a declared rate that is used: networks bunch up what was sent apart. */
const usedOfDeclared = 0.95;

/** Size of an undeclared bucket, in seconds of its rate: timers are no finer. */
const undeclaredBurst = 0.01;

export function newHostPace({ perSecond, burst }: Limits = {}): HostPace {
  const most = usedOfDeclared * (perSecond ?? Number.POSITIVE_INFINITY);
  return {
    perSecond: most,
    most,
    burst,
    fullAt: 0,
    pausedUntil: 0,
    halvedAt: Number.NEGATIVE_INFINITY,
    isSearching: false,
  };
}

export function startOf(pace: HostPace): number {
  return Math.max(pace.pausedUntil, pace.fullAt - (sizeOf(pace) - 1) * gapOf(pace));
}

export function started(pace: HostPace, now: number): HostPace {
  return { ...pace, fullAt: Math.max(now, pace.fullAt) + gapOf(pace) };
}

/** True if requests follow each other at half of the rate or more: then what is taken says that the rate is fine. */
export function isUsed(pace: HostPace, now: number): boolean {
  return pace.fullAt + gapOf(pace) > now;
}

/** The host took a read that was sent while the rate was used: a little more. */
export function taken(pace: HostPace, sentAt: number): HostPace {
  if (pace.perSecond >= pace.most || sentAt <= pace.halvedAt) return pace;
  const more = pace.isSearching ? step.searching : step.usual;
  return { ...pace, perSecond: Math.min(pace.most, pace.perSecond + more) };
}

export interface Refusal {
  readonly sentAt: number;
  /** True for 429; false for 503 with a Retry-After. */
  readonly isTooMuch: boolean;
  /** Pause that the host asks for, in ms. */
  readonly retryAfter?: number;
}

/** All requests pause as long as the host says; the rate is halved, once for all that were under way. */
export function refused(pace: HostPace, refusal: Refusal, now: number): HostPace {
  const { sentAt, isTooMuch, retryAfter = usualPause } = refusal;
  const pausedUntil = Math.max(pace.pausedUntil, now + retryAfter);
  const paused = { ...pace, pausedUntil };
  if (!isTooMuch || sentAt <= pace.halvedAt) return paused;
  const isFirst = pace.perSecond === Number.POSITIVE_INFINITY;
  const perSecond = isFirst ? afterFirstRefusal : Math.max(leastPerSecond, pace.perSecond / 2);
  const slower = { ...paused, perSecond, halvedAt: now, isSearching: isFirst };
  // Nothing is saved up during the pause: the host's own bucket is empty.
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
