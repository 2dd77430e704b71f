/** @module Waits for the end of an accepted operation, reports progress, and records the end in the state. */
import { remedyForFailed, withoutTwin } from "../../model/address.ts";
import { serviceTime } from "../../model/clock.ts";
import type { Baseline } from "../../model/consistency.ts";
import { GraphformError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { KnownObject, Live, PhaseName, Ref } from "../../model/observed.ts";
import type { NamedStep } from "../../model/outcome.ts";
import type { Step } from "../../model/plan.ts";
import { isSealed } from "../../model/sealed.ts";
import type { Spec } from "../../model/spec.ts";
import { isTimeUp } from "../../model/time-limit.ts";
import { sameJson } from "../../model/values.ts";
import { poll } from "../../polling/poll.ts";
import { type ApplyContext, type StepResult, timestamp, waitsForPerson } from "../context.ts";
import { releaseLockedOut } from "../creates/create-request.ts";
import {
  type Arrival,
  type Expectation,
  evaluateArrival,
  isGoneAtOnce,
  noSightings,
  showsOther,
  withSighting,
} from "../evidence/operation.ts";
import { ineffectivePaths, untilUsable } from "../probe-object.ts";
import { type Sighting, watch } from "./watch-missing.ts";

/** Operations that lead to one phase from any other. */
const phasesByOperation: { readonly [operation: string]: readonly PhaseName[] } = {
  create: ["ready"],
  start: ["ready"],
  restart: ["ready"],
  stop: ["stopped"],
  delete: ["gone"],
};

/** The phases that an operation leads to. An operation that is not listed above leaves a stopped resource stopped. */
export function phasesAfter(operation: string, baseline: Baseline | "first-look"): readonly PhaseName[] {
  const known = phasesByOperation[operation];
  if (known !== undefined) return known;
  if (baseline === "first-look") return ["ready", "stopped"];
  return baseline?.phase.is === "stopped" ? ["stopped"] : ["ready"];
}

/** Waits until an accepted operation has done its work and records it. `baseline`: the look before; `phases` end the wait well. */
export async function waitForOperation(
  step: Step,
  ref: Ref,
  operation: string,
  baseline: Baseline | "first-look",
  context: ApplyContext,
  phases: readonly PhaseName[] = phasesAfter(operation, baseline),
): Promise<StepResult> {
  const bound = context.journal.state.resources[step.address];
  const started = context.clock.now();
  const acceptedAt = timeOf(bound?.converging?.since, started);
  const mayBeHiddenSince = operation === "delete" ? timeOf(bound?.createdAt, 0) : acceptedAt;
  const timeout = timeoutOf(step, operation, context);
  const sent = operation === "update" ? (bound?.converging?.record ?? {}) : {};
  const isLate = (live: Live): boolean => showsOther(sent, step, live, context);
  const arrival = await converge(
    { kind: step.kind, ref, phases, baseline, acceptedAt, mayBeHiddenSince, timeout, isLate },
    step,
    context,
  );
  switch (arrival.is) {
    case "arrived": {
      if (arrival.live === undefined) return { result: "done", id: ref.id };
      context.outputs.set(step.address, arrival.live.outputs);
      const left = timeout - (context.clock.now() - started);
      await untilUsable(step, ref, arrival.live, left, context);
      const record = shownMark(step, arrival.live, context);
      const at = timestamp(context);
      const { createdAt: shownCreatedAt } = arrival.live;
      const took = tookOf(step, operation, baseline, context);
      const applies = operation === "create" || operation === "update";
      const ineffective = applies ? await ineffectivePaths(step, arrival.live, context) : [];
      const byTime = bound?.converging?.byTime;
      // Another password may be declared by now than its create has set.
      const isRefused = ineffective.some((path) => {
        const value = step.spec?.[path];
        return isSealed(value) && sameJson(value, bound?.recorded[path] ?? null);
      });
      if (bound !== undefined && byTime !== undefined && isRefused) {
        context.outputs.delete(step.address);
        throw await releaseLockedOut(step.address, bound, byTime, context.journal);
      }
      for (const path of ineffective) {
        const message = `${ref.id}: ${path} was applied, and the database does not follow; it is not sent again as it is`;
        context.emit({ type: "warning", address: step.address, message });
      }
      await context.journal.record({
        type: "operation-settled",
        address: step.address,
        record,
        at,
        ...(serviceTime(shownCreatedAt) === undefined ? {} : { shownCreatedAt }),
        ...took,
        ...(ineffective.length === 0 ? {} : { ineffective }),
      });
      return { result: "done", id: ref.id };
    }
    case "failed":
      context.outputs.set(step.address, arrival.live.outputs);
      await context.journal.record({ type: "operation-failed", address: step.address });
      return {
        result: "failed",
        id: ref.id,
        message: `${ref.id} failed: ${arrival.detail}`,
        hint:
          operation === "delete"
            ? "the next plan deletes it again"
            : `the next plan offers to try it again in place; ${remedyForFailed(step.address, ref.id, context.kinds.named(step.kind), context.profile)}`,
      };
    case "waiting-for-person":
      context.outputs.set(step.address, arrival.live.outputs);
      return waitsForPerson(ref, arrival.detail);
    case "never-there":
      throw new GraphformError(
        "never-there",
        `the service answered the create of ${step.address} with ${ref.id}, and nothing of that id was ever there`,
        { hint: "run apply again: it looks for what the create has made before it makes another" },
      );
    case "timeout":
      return {
        result: "converging",
        id: ref.id,
        message: `${ref.id} is still ${arrival.detail} after the time that was allowed`,
        hint: "run apply again to go on waiting",
      };
    case "interrupted":
      return {
        result: "interrupted",
        id: ref.id,
        message: `${ref.id} was left ${arrival.detail === "" ? "as it is" : arrival.detail}`,
        hint: "run apply again to go on",
      };
  }
}

/** Ms since the acceptance of an operation; nothing if an earlier run asked for it, or if nothing was sent. */
function tookOf(
  { address }: Step,
  operation: string,
  baseline: Baseline | "first-look",
  { clock, journal, stateAtStart }: ApplyContext,
): { readonly took?: number } {
  const since = journal.state.resources[address]?.converging?.since;
  const wasAsked = operation === "create" || (baseline !== undefined && baseline !== "first-look");
  if (!wasAsked || since === undefined || since === stateAtStart.resources[address]?.converging?.since)
    return {};
  return { took: Math.max(0, Math.round(clock.now() - Date.parse(since))) };
}

/** Longest wait for an operation in ms: the step's own, or the profile's. */
export function timeoutOf(
  step: Pick<Step, "timeout">,
  operation: string,
  { profile }: Pick<ApplyContext, "profile">,
): number {
  return step.timeout ?? profile.timing.timeout[operation] ?? 40 * 60_000;
}

function timeOf(text: string | undefined, otherwise: number): number {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? otherwise : time;
}

/** The fields of this state's own mark that an object shows. They are recorded: a later look without them means removal. Another state's mark stays that one's. */
function shownMark(
  { kind, address }: Pick<Step, "kind" | "address">,
  { spec, owner }: Live,
  context: Pick<ApplyContext, "kinds" | "journal">,
): Spec {
  const { lineage } = context.journal.state;
  if (owner?.lineage !== lineage) return {};
  const mark = context.kinds.named(kind).ownerMark({ lineage, address: withoutTwin(address) });
  return Object.fromEntries(Object.entries(mark).filter(([path, value]) => spec[path]?.value === value));
}

export interface Target extends Expectation, Pick<KnownObject, "kind" | "ref"> {
  /** Longest wait in ms, from now on. */
  readonly timeout: number;
}

/** The end of a wait. After a timeout the operation goes on at the service. */
export type Converged = Arrival | { readonly is: "timeout" | "interrupted"; readonly detail: string };

/** Looks are at the longest interval until this share of the shortest known duration has passed. */
const rarelyPolled = 0.9;

/** A create is polled once its age is this factor above the greatest age at which one of its kind was seen unfinished. */
const putOffFactor = 1.15;

/** Interval between two reports on a resource that has not arrived, in ms. */
const heartbeat = 10_000;

/**
 * Polls a resource until an accepted operation has arrived, has failed, or the time is up: at the longest interval until 90 % of the
 * shortest duration of the same operation in this run have passed, then at the growing one. While no create of the kind has
 * finished, a look at one that is unfinished puts off the looks at younger ones. Reports progress every ten seconds.
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
  const { kind, ref, acceptedAt, mayBeHiddenSince } = target;
  const watched = watch({ kind, address: step.address, ref, mayBeHiddenSince }, context, () =>
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
    // Objects of some kinds show no status.
    show(live === undefined ? "not there" : live.phase.detail || "in progress");
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
    const arrival = await poll(
      { look, evaluate, deadline: started + target.timeout, notBefore, onPause: report },
      context,
    );
    if (arrival === undefined) return { is: "timeout", detail };
    const took = clock.now() - acceptedAt;
    if (arrival.is === "arrived" && target.baseline !== "first-look")
      known.least = Math.min(took, known.least ?? took);
    return arrival;
  } catch (error) {
    if (context.stopping.aborted) return { is: "interrupted", detail };
    if (isTimeUp(error)) return { is: "timeout", detail };
    throw error;
  }
}

/** Remembers the fields that the service shows: those of one object hold for the others of its kind. */
function rememberShown(kind: string, { spec }: Live, { shownPaths }: Pick<ApplyContext, "shownPaths">): void {
  const paths = shownPaths.get(kind) ?? new Set();
  for (const [path, { source }] of Object.entries(spec)) if (source !== "recorded") paths.add(path);
  shownPaths.set(kind, paths);
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
