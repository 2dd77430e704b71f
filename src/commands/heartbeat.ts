/** @module Says every ten seconds that a run goes on, where nothing else is printed. */
import type { ApplyEvent } from "../model/outcome.ts";
import type { Step } from "../model/plan.ts";
import { heartbeatText } from "../report/live/progress-lines.ts";
import { afterEvent, beginRun } from "../report/live/run-progress.ts";

/** A heartbeat that has not ended. */
export interface Heartbeat {
  /** Follows an event; its line is printed elsewhere. */
  event(event: ApplyEvent): void;
  end(): void;
}

/** Ms without a line before the next one. */
const interval = 10_000;

/** Begins a heartbeat for the steps of a plan: a line after every ten seconds without one. */
export function beginHeartbeat(
  steps: readonly Step[],
  usual: (step: Step) => number,
  print: (line: string) => void,
  now: () => number = Date.now,
): Heartbeat {
  let progress = beginRun(steps, usual, now());
  const timer = setInterval(() => print(heartbeatText(progress, now())), interval);
  timer.unref();
  return {
    event(event) {
      progress = afterEvent(progress, event, now());
      timer.refresh();
    },
    end: () => clearInterval(timer),
  };
}
