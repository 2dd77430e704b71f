/** @module Polls a resource until an accepted operation has arrived, and reports progress. */
import { defined } from "../../model/json.ts";
import type { Live, Ref } from "../../model/observed.ts";
import type { NamedStep } from "../../model/outcome.ts";
import { isTimeUp } from "../../model/time-limit.ts";
import { poll } from "../../polling/poll.ts";
import type { ApplyContext } from "../context.ts";
import {
  type Arrival,
  type Expectation,
  evaluateArrival,
  isGoneAtOnce,
  noSightings,
  withSighting,
} from "../evidence/arrival.ts";
import { type Sighting, watch } from "./watch-missing.ts";

export interface Target extends Expectation {
  readonly kind: string;
  readonly ref: Ref;
  /** Longest wait in ms, from now on. */
  readonly timeout: number;
}

/** The end of a wait. After a timeout the operation goes on at the service. */
export type Converged = Arrival | { readonly is: "timeout" | "interrupted"; readonly detail: string };

/** The share of the shortest known duration during which looks are rare. */
const rarelyPolled = 0.9;

/** A create is polled only once it is older, by this factor, than each of its kind was when it was seen unfinished. */
const putOffFactor = 1.15;

/** Interval between two reports on a resource that has not arrived, in ms. */
const heartbeat = 10_000;

/**
 * Polls a resource until an accepted operation has arrived, has failed, or the time is up: at the longest interval until 90 % of the
 * shortest duration of the same operation in this run have passed, then at the growing one. Until one create has arrived, all creates of a
 * kind share their looks: if one is unfinished, younger ones are too. Reports progress every ten seconds.
 */
export async function converge(target: Target, step: NamedStep, context: ApplyContext): Promise<Converged> {
  const { clock, profile, durations } = context;
  const started = clock.now();
  const known = durations([step.kind, step.operation, step.verb].join(" "));
  let isShared = false;
  let sightings = noSightings(target);
  let detail = "";
  let reportedAt = started;
  let lookedAt = started;
  const { kind, ref, acceptedAt, madeAt: createdAt } = target;
  const watched = watch({ kind, address: step.address, ref, createdAt }, context, () =>
    isGoneAtOnce(target, sightings),
  );
  const look = (): Promise<Sighting> => {
    lookedAt = clock.now();
    if (isShared) known.unfinished = Math.max(known.unfinished, lookedAt - acceptedAt);
    return watched();
  };
  const evaluate = (seen: Sighting): Arrival | undefined => {
    const live = seen.is === "shown" ? seen.live : undefined;
    // A create whose object is not shown is polled alone: each look is evidence.
    isShared = target.baseline === undefined && live?.phase.is === "pending";
    sightings = withSighting(sightings, live);
    if (live !== undefined) rememberShown(kind, live, context);
    show(live?.phase.detail ?? "not there");
    if (seen.is === "hidden") return undefined;
    return evaluateArrival(target, live, sightings, clock.now(), profile.timing);
  };
  const show = (next: string): void => {
    if (next !== detail) context.onStatus?.(step.key, next);
    detail = next;
  };
  const report = (failure: Error | undefined): void => {
    if (failure !== undefined) show(`not reachable (${failure.message})`);
    if (clock.now() - reportedAt < heartbeat) return;
    reportedAt = clock.now();
    context.emit(progressOf(step, clock.now() - started, detail));
  };
  try {
    const notBefore = (): number => {
      const { least, unfinished } = known;
      const wait = least === undefined ? (isShared ? putOffFactor * unfinished : 0) : rarelyPolled * least;
      return Math.min(lookedAt + profile.timing.poll.longest, acceptedAt + wait);
    };
    const polled = await poll(
      { look, evaluate, deadline: started + target.timeout, notBefore, onPause: report },
      context,
    );
    if (polled.is === "timeout") return { is: "timeout", detail };
    const took = clock.now() - acceptedAt;
    if (polled.verdict.is === "arrived" && target.baseline !== "first-look")
      known.least = Math.min(took, known.least ?? took);
    return polled.verdict;
  } catch (error) {
    if (context.stopping.aborted) return { is: "interrupted", detail };
    if (isTimeUp(error)) return { is: "timeout", detail };
    throw error;
  }
}

/** Remembers the fields that the service shows: those of one object hold for the others of its kind. */
function rememberShown(kind: string, { spec }: Live, { shown }: Pick<ApplyContext, "shown">): void {
  const paths = shown.get(kind) ?? new Set();
  for (const [path, { source }] of Object.entries(spec)) if (source !== "recorded") paths.add(path);
  shown.set(kind, paths);
}

/** The progress event of a step; `elapsed` in ms. */
export function progressOf(
  { key, address, kind, operation, verb }: NamedStep,
  elapsed: number,
  detail: string,
): Parameters<ApplyContext["emit"]>[0] {
  const named = { key, address, kind, operation, ...defined({ verb }) };
  return { type: "step-progress", ...named, elapsed, detail };
}
