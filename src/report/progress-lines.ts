/** @module Follows a running apply, and draws it for a terminal: a line for each step that runs, and one for the whole. */
import type { ApplyEvent } from "../model/outcome.ts";
import type { Step } from "../model/plan.ts";
import { stepWords } from "./apply-text.ts";
import { cutStartTo, cutTo, escapeText, type Page, padTo, textWidth } from "./typeset.ts";
import { aboutTime, elapsedTime } from "./words.ts";

/** A page with a height: rows of the terminal. */
export interface Screen extends Page {
  readonly height: number;
}

/** Rows of the terminal that stay free: finished steps scroll by there. */
const freeRows = 4;

const widest = { address: 48, status: 36 };

/** The lines of `now`, the longest running first, each narrower than the screen, which may break it. `reading` replaces the time that is left. */
export function progressLines(
  progress: RunProgress,
  now: number,
  screen: Screen,
  reading?: string,
): readonly string[] {
  const room = Math.max(1, screen.height - freeRows - 1);
  const all = [...progress.running.values()].sort((a, b) => a.startedAt - b.startedAt);
  const shown = all.length > room ? all.slice(0, Math.max(0, room - 1)) : all;
  const more = all.length - shown.length;
  const count = shown.length === 0 ? `  ${more} running` : `  and ${more} more`;
  return [
    ...stepLines(shown, now, screen),
    ...(more === 0 ? [] : [screen.palette.dim(cutTo(count, screen.width - 1))]),
    totalLine(progress, now, screen, reading),
  ];
}

function stepLines(
  steps: readonly RunningStep[],
  now: number,
  { palette, width }: Screen,
): readonly string[] {
  const rows = steps.map(({ address, doing, status, startedAt, usual }) => ({
    address: escapeText(address, 300),
    status: `${doing}${status === "" ? "" : ` · ${escapeText(status, 200)}`}`,
    time: elapsedTime(now - startedAt),
    usual: usual === 0 ? "" : `usually ${usual < 1000 ? "under 1s" : elapsedTime(usual + 500)}`,
  }));
  const most = (of: "address" | "status" | "time" | "usual", limit: number): number =>
    Math.min(limit, Math.max(0, ...rows.map((row) => textWidth(row[of]))));
  const time = most("time", 8);
  const usual = most("usual", 24);
  // Two columns before, and two between each.
  const room = Math.max(16, width - 1 - 2 - 2 - 2 - time - (usual === 0 ? 0 : usual + 2));
  const left = Math.max(Math.floor(room / 2), room - most("address", room));
  const status = most("status", Math.min(widest.status, left));
  const address = most("address", Math.min(width > 120 ? 2 * widest.address : widest.address, room - status));
  return rows.map((row) => {
    const times = `${row.time.padStart(time)}${row.usual === "" ? "" : `  ${row.usual}`}`;
    const name = `  ${padTo(cutStartTo(row.address, address), address)}  `;
    const middle = `${padTo(cutTo(row.status, status), status)}  `;
    const rest = Math.max(0, width - 1 - textWidth(name + middle));
    return `${palette.bold(name)}${middle}${palette.dim(cutTo(times, rest))}`;
  });
}

/** The line of a log without a terminal: `12 of 61 done · 8 running · 1m20s elapsed`. */
export function heartbeatText(progress: RunProgress, now: number): string {
  const { running, steps, startedAt } = progress;
  const also = running.size === 0 ? "" : ` · ${running.size} running`;
  return `${doneIn(progress)} of ${steps.size} done${also} · ${elapsedTime(now - startedAt)} elapsed`;
}

function totalLine(progress: RunProgress, now: number, screen: Screen, reading: string | undefined): string {
  const { palette, width } = screen;
  const { failed } = progress;
  const left = timeLeft(progress, now);
  const isSlow = [...progress.running.values()].some(
    ({ startedAt, usual }) => usual > 0 && now - startedAt > usual,
  );
  const late = isSlow ? "takes longer than usual" : "";
  const ending = reading ?? (left === undefined ? late : `${aboutTime(left / 1000)} left`);
  const parts = [
    `${doneIn(progress)} of ${progress.steps.size} done`,
    failed === 0 ? "" : `${failed} not done`,
    `${elapsedTime(now - progress.startedAt)} elapsed`,
    ending,
  ];
  return palette.cyan(cutTo(parts.filter((part) => part !== "").join(" · "), width - 1));
}

/** The line that is drawn while a plan is made, or the words of it while an apply is verified. */
export function readingText(answered: number, known: number, wait = ""): string {
  const read = known === 0 ? "reading the service" : `${answered} of ${known} read`;
  return wait === "" ? read : `${read}, ${wait}`;
}

/** A running apply, which `followRun` keeps up to date in place: thousands of steps may run at once. Times are ms since 1970. */
export interface RunProgress {
  readonly startedAt: number;
  /** The steps that nothing blocks, by their keys. */
  readonly steps: ReadonlyMap<string, ExpectedStep>;
  /** By the keys of their steps, in the order in which they started. */
  readonly running: Map<string, RunningStep>;
  /** True for a step that was done, by the keys of all that have ended. */
  readonly ended: Map<string, boolean>;
  failed: number;
}

/** A step, and the ms that it usually takes; 0 if that is unknown. */
interface ExpectedStep extends Pick<Step, "key" | "after"> {
  readonly usual: number;
}

interface RunningStep {
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
    steps: new Map(free.map((step) => [step.key, { key: step.key, after: step.after, usual: usual(step) }])),
    running: new Map(),
    ended: new Map(),
    failed: 0,
  };
}

/** Takes an event of the time `now` into the progress. */
export function followRun(progress: RunProgress, event: ApplyEvent, now: number): void {
  const { steps, running, ended } = progress;
  if (event.type === "step-start") {
    const { key, address, operation, verb } = event;
    const { doing } = stepWords(operation, verb);
    running.set(key, { address, doing, status: "", startedAt: now, usual: steps.get(key)?.usual ?? 0 });
  } else if (event.type === "step-progress") setStatus(progress, event.key, event.detail);
  else if (event.type === "step-end") {
    const { key, result } = event.outcome;
    running.delete(key);
    ended.set(key, result === "done");
    if (result !== "done") progress.failed += 1;
  }
}

/** Takes another status of a resource that was seen into the progress. */
export function setStatus({ running }: RunProgress, key: string, status: string): void {
  const step = running.get(key);
  if (step !== undefined) running.set(key, { ...step, status });
}

function doneIn({ ended, failed }: RunProgress): number {
  return ended.size - failed;
}

/** Ms of the longest chain of steps that run or follow, if not behind a failure. Undefined if a step is late and nothing takes longer. */
export function timeLeft({ steps, running, ended }: RunProgress, now: number): number | undefined {
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
    const step = steps.get(key);
    return step === undefined || ended.get(key) === false ? Number.NEGATIVE_INFINITY : finish(step);
  };
  const ownTime = (step: ExpectedStep): number => {
    const started = running.get(step.key)?.startedAt;
    if (started !== undefined) return Math.max(0, started + step.usual - now);
    return isLost(step) ? Number.NEGATIVE_INFINITY : step.usual;
  };
  const isLost = (step: ExpectedStep): boolean => step.after.some((key) => ended.get(key) === false);
  const left = Math.max(0, ...[...steps.values()].map(finish));
  return left === 0 ? undefined : left;
}
