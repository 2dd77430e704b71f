/** @module Shows on a terminal what a run is doing: the service that is read, the steps that are carried out. */
import type { ApplyEvent } from "../../model/outcome.ts";
import type { Step } from "../../model/plan.ts";
import {
  afterEvent,
  beginRun,
  heartbeatText,
  progressLines,
  type RunProgress,
  readingText,
  withStatus,
} from "../../report/live/progress-lines.ts";
import { makePalette } from "../../report/typeset.ts";
import { elapsedTime } from "../../report/words.ts";
import type { LiveArea, Terminal } from "./terminal.ts";

/** The view of a run, drawn below everything that is printed. */
export interface LiveView {
  /** False if there is nothing to draw on: a line stands for what would be drawn, after every ten seconds without one. */
  readonly isDrawn: boolean;
  /** Shows that the service is read. */
  reading(answered: number, known: number, wait?: string): void;
  /** Begins to show the steps of an approved plan. */
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
  if (!isWanted) return undefined;
  return terminal.live === undefined ? plainView(terminal) : liveView(await terminal.live(), terminal);
}

/** A view for a log: a line after every ten seconds without one, of the service that is read or of the steps. */
function plainView({ err }: Pick<Terminal, "err">, now: () => number = Date.now): LiveView {
  let text = (): string => "";
  let timer: NodeJS.Timeout | undefined;
  let readingSince = 0;
  let progress: RunProgress | undefined;
  const end = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const begin = (): void => {
    timer = setInterval(() => err(`${text()}\n`), silence);
    timer.unref();
  };
  return {
    isDrawn: false,
    reading(answered, known, wait) {
      if (progress !== undefined) return;
      readingSince = timer === undefined ? now() : readingSince;
      const read = readingText(answered, known, wait);
      text = () => `${read} · ${elapsedTime(now() - readingSince)} elapsed`;
      if (timer === undefined) begin();
    },
    begin(steps, usual) {
      end();
      progress = beginRun(steps, usual, now());
      text = () => (progress === undefined ? "" : heartbeatText(progress, now()));
      begin();
    },
    event(event) {
      progress = progress && afterEvent(progress, event, now());
      timer?.refresh();
    },
    status: () => undefined,
    clear: end,
  };
}

/** The view of a run in an area of the terminal. */
function liveView(
  area: LiveArea,
  { colour }: Pick<Terminal, "colour">,
  now: () => number = Date.now,
): LiveView {
  const palette = makePalette(colour);
  let progress: RunProgress | undefined;
  let reading: string | undefined;
  let readingSince = 0;
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    const screen = { palette, ...area.size() };
    if (progress !== undefined) area.draw(progressLines(progress, now(), screen, reading));
    else if (reading !== undefined)
      area.draw([palette.cyan(`${reading} · ${elapsedTime(now() - readingSince)} elapsed`)]);
  };
  const show = (): void => {
    if (timer !== undefined) return;
    draw();
    timer = setInterval(draw, pause);
    timer.unref();
  };
  return {
    isDrawn: true,
    reading(answered, known, wait) {
      if (reading === undefined) readingSince = now();
      reading = readingText(answered, known, wait);
      show();
    },
    begin(steps, usual) {
      progress = beginRun(steps, usual, now());
      reading = undefined;
      show();
    },
    event(event) {
      if (progress === undefined) return;
      progress = afterEvent(progress, event, now());
      if (event.type === "step-end") draw();
    },
    status(key, status) {
      if (progress !== undefined) progress = withStatus(progress, key, status);
    },
    clear() {
      clearInterval(timer);
      timer = undefined;
      progress = undefined;
      reading = undefined;
      area.clear();
    },
  };
}
