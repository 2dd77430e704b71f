/** @module Shows on a terminal what a run is doing: the service that is read, the steps that are carried out. */
import type { ApplyEvent } from "../../model/outcome.ts";
import type { Step } from "../../model/plan.ts";
import {
  beginRun,
  followRun,
  heartbeatText,
  progressLines,
  type RunProgress,
  readingText,
  setStatus,
} from "../../report/progress-lines.ts";
import { makePalette } from "../../report/typeset.ts";
import { elapsedTime } from "../../report/words.ts";
import type { LiveArea, Terminal } from "./terminal.ts";

/** The view of a run, drawn below everything that is printed. */
export interface LiveView {
  /** False if there is no terminal to draw on: then a line is printed after every ten seconds without one. */
  readonly isDrawn: boolean;
  reading(answered: number, known: number, wait?: string): void;
  begin(steps: readonly Step[], usual: (step: Step) => number): void;
  event(event: ApplyEvent): void;
  status(key: string, status: string): void;
  /** Removes everything that is drawn: something is printed or asked next. */
  clear(): void;
}

/** Least ms between two frames; times are whole seconds, so that many frames are equal and nothing is written. */
const pause = 200;

/** Ms between two lines if nothing is drawn. */
const silence = 10_000;

/** Opens the view of a run; undefined if nothing is said: `isWanted` is false with --json. */
export async function openLiveView(terminal: Terminal, isWanted: boolean): Promise<LiveView | undefined> {
  return isWanted ? liveView(terminal, await terminal.live?.()) : undefined;
}

/** A view that is drawn in an area of the terminal; without one, lines for a log. */
function liveView({ err, colour }: Pick<Terminal, "err" | "colour">, area: LiveArea | undefined): LiveView {
  const palette = makePalette(colour);
  const now = Date.now;
  let progress: RunProgress | undefined;
  let reading: string | undefined;
  let readingSince = 0;
  let timer: NodeJS.Timeout | undefined;
  let shownAt = 0;
  const show = (): void => {
    shownAt = now();
    const read = `${reading ?? ""} · ${elapsedTime(now() - readingSince)} elapsed`;
    if (area === undefined) err(`${progress === undefined ? read : heartbeatText(progress, now())}\n`);
    else if (progress === undefined) area.draw([palette.cyan(read)]);
    else area.draw(progressLines(progress, now(), { palette, ...area.size() }, reading));
  };
  const start = (): void => {
    if (timer !== undefined) return;
    if (area !== undefined) show();
    timer = setInterval(show, area === undefined ? silence : pause);
    timer.unref();
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    isDrawn: area !== undefined,
    reading(answered, known, wait) {
      // The lines of a log tell of the steps alone, once there are some.
      if (area === undefined && progress !== undefined) return;
      if (reading === undefined) readingSince = now();
      reading = readingText(answered, known, wait);
      start();
    },
    begin(steps, usual) {
      if (area === undefined) stop();
      progress = beginRun(steps, usual, now());
      reading = undefined;
      start();
    },
    event(event) {
      if (progress !== undefined) followRun(progress, event, now());
      if (area === undefined) timer?.refresh();
      else if (progress !== undefined && event.type === "step-end" && now() - shownAt >= pause) show();
    },
    status(key, status) {
      if (progress !== undefined) setStatus(progress, key, status);
    },
    clear() {
      stop();
      reading = undefined;
      progress = undefined;
      area?.clear();
    },
  };
}
