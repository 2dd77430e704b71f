/** @module Follows a running apply: what is done, what runs, and the time that is left. */
import type { ApplyEvent } from "../../model/outcome.ts";
import type { Step } from "../../model/plan.ts";
import { stepWords } from "../progress-text.ts";

/** A running apply. Times are ms since 1970. */
export interface RunProgress {
  readonly startedAt: number;
  /** The steps that nothing blocks. */
  readonly steps: readonly ExpectedStep[];
  /** By the keys of their steps, in the order in which they started. */
  readonly running: ReadonlyMap<string, RunningStep>;
  /** Steps that have ended; true where they are done. */
  readonly ended: ReadonlyMap<string, boolean>;
}

/** A step, and the ms that it usually takes; 0 where nobody knows. */
export interface ExpectedStep extends Pick<Step, "key" | "after"> {
  readonly usual: number;
}

/** A step that runs. */
export interface RunningStep {
  readonly address: string;
  /** `creating`; escaped. */
  readonly doing: string;
  /** The last status that was seen; empty before the first. */
  readonly status: string;
  readonly startedAt: number;
  readonly usual: number;
}

/** The progress of a run of which nothing has started. */
export function beginRun(steps: readonly Step[], usual: (step: Step) => number, now: number): RunProgress {
  const free = steps.filter((step) => step.blocked.length === 0);
  return {
    startedAt: now,
    steps: free.map((step) => ({ key: step.key, after: step.after, usual: usual(step) })),
    running: new Map(),
    ended: new Map(),
  };
}

/** The progress after one event; `now` is the time of the event. */
export function afterEvent(progress: RunProgress, event: ApplyEvent, now: number): RunProgress {
  const { steps, running, ended } = progress;
  switch (event.type) {
    case "step-start": {
      const { key, address, operation, verb } = event;
      const { doing } = stepWords(operation, verb);
      const usual = steps.find((step) => step.key === key)?.usual ?? 0;
      const started = { address, doing, status: "", startedAt: now, usual };
      return { ...progress, running: new Map([...running, [key, started]]) };
    }
    case "step-progress":
      return withStatus(progress, event.key, event.detail);
    case "step-end": {
      const { key, result } = event.outcome;
      const left = new Map([...running].filter(([other]) => other !== key));
      return { ...progress, running: left, ended: new Map([...ended, [key, result === "done"]]) };
    }
    case "warning":
      return progress;
  }
}

/** The progress after another status of a resource was seen. */
export function withStatus(progress: RunProgress, key: string, status: string): RunProgress {
  const step = progress.running.get(key);
  if (step === undefined) return progress;
  return { ...progress, running: new Map([...progress.running, [key, { ...step, status }]]) };
}

/** Number of steps that are done. */
export function countDone({ ended }: RunProgress): number {
  return [...ended.values()].filter((isDone) => isDone).length;
}

/**
 * Ms until the last step usually ends: the longest chain of what runs and what comes after it. Steps behind one that failed
 * do not count. Undefined where a running step takes longer than usual and nothing else takes longer still.
 */
export function timeLeft({ steps, running, ended }: RunProgress, now: number): number | undefined {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const known = new Map<string, number>();
  const finish = (step: ExpectedStep): number => {
    const before = known.get(step.key);
    if (before !== undefined) return before;
    // A step that waits for itself would never end; plans have none.
    known.set(step.key, 0);
    const time = ended.has(step.key) ? 0 : ownTime(step) + Math.max(0, ...step.after.map(behind));
    known.set(step.key, time);
    return time;
  };
  const behind = (key: string): number => {
    const step = byKey.get(key);
    return step === undefined || ended.get(key) === false ? Number.NEGATIVE_INFINITY : finish(step);
  };
  const ownTime = (step: ExpectedStep): number => {
    const started = running.get(step.key)?.startedAt;
    if (started !== undefined) return Math.max(0, started + step.usual - now);
    return isLost(step) ? Number.NEGATIVE_INFINITY : step.usual;
  };
  const isLost = (step: ExpectedStep): boolean => step.after.some((key) => ended.get(key) === false);
  const left = Math.max(0, ...steps.map(finish));
  return left === 0 ? undefined : left;
}
