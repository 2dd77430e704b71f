import pRetry, { AbortError } from "p-retry";
import { asError, isServiceError, type ServiceError } from "../model/errors.ts";
import type { Live, PhaseName, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import type { ApplyContext } from "./context.ts";
import { driverOf } from "./context.ts";

/** What is waited for. */
export interface Target {
  readonly kind: string;
  readonly ref: Ref;
  /** Phases that count as arrived. */
  readonly phases: readonly PhaseName[];
  readonly before?: Before;
  /** When the service accepted it, ms since 1970. */
  readonly since: number;
  /** Until when it may be there without being shown, ms since 1970: a new object, or the deletion of a young one. */
  readonly hiddenUntil: number;
  /** Longest wait in ms, from now on. */
  readonly timeout: number;
}

/**
 * How it looked before the service accepted the operation; undefined for a new object. Where an earlier run has sent
 * it, nobody remembers: the first look stands for it.
 */
export type Before = Pick<Live, "phase" | "modifiedAt"> | "first-look" | undefined;

/** How the waiting ended. A timeout ends the waiting and nothing else. */
export type Arrival =
  | { readonly is: "arrived"; readonly live: Live | undefined }
  | { readonly is: "failed" | "waiting-for-person"; readonly live: Live; readonly detail: string }
  | { readonly is: "timeout" | "interrupted"; readonly detail: string }
  /** What this run has created was not shown once in the time that a new object may be hidden. */
  | { readonly is: "never-there" };

/** Of the least that others took, what is not looked at in between. */
const mostOfUsual = 0.9;

/**
 * Looks at a resource until it has arrived, seldom until it is about time, as others of this run have shown. The status from before the operation may still show for a while: it
 * counts only once another status was seen, or the modification time moved, or the profile's settling time passed.
 */
export async function converge(target: Target, step: Told, context: ApplyContext): Promise<Arrival> {
  const { clock, profile } = context;
  const watch: Watch & { detail: string; pause: number } = {
    detail: "",
    first: undefined,
    seen: target.before !== undefined && target.before !== "first-look",
    moved: false,
    told: clock.now(),
    started: clock.now(),
    pause: profile.timing.poll.first,
  };
  const lengthKey = [step.kind, step.operation, step.verb].join(" ");
  const look = async (): Promise<Arrival> => {
    const live = await glance(target, context);
    if (isServiceError(live)) {
      watch.detail = `not reachable (${live.message})`;
      throw live;
    }
    watch.detail = live?.phase.detail ?? "not there";
    const arrival = judge(target, live, watch, context);
    if (arrival === undefined) throw new Error("not there yet");
    return arrival;
  };
  const pauseBetween = async (): Promise<void> => {
    if (clock.now() - watch.started >= target.timeout) throw new AbortError("timeout");
    tell(step, watch, context);
    const left = target.timeout - (clock.now() - watch.started);
    const early = mostOfUsual * (context.durations.get(lengthKey) ?? 0) - (clock.now() - target.since);
    const pause = Math.min(profile.timing.poll.longest, Math.max(early, watch.pause));
    await clock.sleep(Math.min(left, pause * (0.8 + 0.4 * clock.random())), context.stopping);
    if (early <= 0) watch.pause = Math.min(profile.timing.poll.longest, watch.pause * 1.5);
  };
  try {
    const arrival = await pRetry(look, {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 0,
      maxTimeout: 0,
      onFailedAttempt: pauseBetween,
    });
    const took = clock.now() - target.since;
    if (arrival.is === "arrived" && target.before !== "first-look")
      context.durations.set(lengthKey, Math.min(took, context.durations.get(lengthKey) ?? took));
    return arrival;
  } catch (error) {
    if (context.stopping.aborted) return { is: "interrupted", detail: watch.detail };
    if (clock.now() - watch.started >= target.timeout) return { is: "timeout", detail: watch.detail };
    throw error;
  }
}

interface Watch {
  readonly detail: string;
  /** The first of our looks that showed it at rest. */
  first: Live | undefined;
  /** It was shown: before the operation, or while we looked. */
  seen: boolean;
  moved: boolean;
  told: number;
  readonly started: number;
}

/** What is there; or the passing error for which nobody can tell. */
async function glance(target: Target, context: ApplyContext): Promise<Live | undefined | ServiceError> {
  try {
    return await driverOf(context, target.kind).get(target.ref, context.stopping);
  } catch (error) {
    const passing =
      isServiceError(error) &&
      ["unavailable", "lost", "rate-limited", "shape", "busy"].includes(error.failure);
    if (passing && !context.stopping.aborted) return error;
    throw new AbortError(asError(error));
  }
}

function judge(
  target: Target,
  live: Live | undefined,
  watch: Watch,
  context: ApplyContext,
): Arrival | undefined {
  const age = context.clock.now() - target.since;
  if (live === undefined) return judgeAbsence(target, watch, context);
  watch.seen = true;
  if (live.phase.is === "gone") return gone(target, live);
  if (live.phase.is === "pending") {
    watch.moved = true;
    return undefined;
  }
  watch.first ??= live;
  const old = target.before === "first-look" ? watch.first : target.before;
  const changed =
    old === undefined ||
    old.phase.is !== live.phase.is ||
    (live.modifiedAt !== undefined && live.modifiedAt !== old.modifiedAt);
  if (!changed && !watch.moved && age < context.profile.timing.settle) return undefined;
  if (target.phases.includes(live.phase.is)) return { is: "arrived", live };
  if (live.phase.is === "waiting-for-person") {
    return age < context.profile.timing.settle
      ? undefined
      : { is: "waiting-for-person", live, detail: live.phase.detail };
  }
  // What had failed already is deleted like anything else; only a failure that comes after is the deletion's.
  const isOld = target.phases.includes("gone") && !watch.moved;
  if (live.phase.is === "failed" && !isOld) return { is: "failed", live, detail: live.phase.detail };
  // At rest, and not where the operation leads: somebody else has been at it since, and waiting brings nothing.
  const hasBegun = watch.moved || target.before === undefined || target.before === "first-look";
  const mayStay = target.phases.includes("gone") && target.before !== "first-look";
  const isElsewhere = hasBegun && !mayStay && age >= context.profile.timing.settle;
  return isElsewhere
    ? { is: "failed", live, detail: `it is ${live.phase.detail}, which is somebody else's doing` }
    : undefined;
}

/** What was not shown yet may be hidden for a while; after that, and once it was shown, it is gone. */
function judgeAbsence(target: Target, watch: Watch, context: ApplyContext): Arrival | undefined {
  const isNew = target.phases.includes("gone") ? !watch.seen : true;
  if (isNew && context.clock.now() < target.hiddenUntil) return undefined;
  if (target.before === undefined && !watch.seen && !target.phases.includes("gone"))
    return { is: "never-there" };
  return gone(target, { id: target.ref.id, phase: { is: "gone", detail: "" }, spec: {}, outputs: {} });
}

/** Absence is what a deletion leads to. */
function gone(target: Target, live: Live): Arrival {
  if (target.phases.includes("gone")) return { is: "arrived", live: undefined };
  return { is: "failed", live, detail: "it is gone: it was deleted while we waited" };
}

/** What of a step is told while it is waited for. */
type Told = Pick<Step, "key" | "address" | "kind" | "operation" | "verb">;

function tell(step: Told, watch: Watch, context: ApplyContext): void {
  const now = context.clock.now();
  if (now - watch.told < 10_000) return;
  watch.told = now;
  const { key, address, kind, operation } = step;
  const verb = step.verb === undefined ? {} : { verb: step.verb };
  const elapsed = now - watch.started;
  context.emit({
    type: "step-progress",
    key,
    address,
    kind,
    operation,
    ...verb,
    elapsed,
    detail: watch.detail,
  });
}
