/** @module Formats one event of a running apply as a line of text. */
import type { ApplyEvent, StepOutcome } from "../model/outcome.ts";
import { formatDuration } from "../model/quantity.ts";
import { elapsedTime } from "./amounts.ts";
import { escapeText } from "./escape.ts";
import type { Palette } from "./palette.ts";
import { doneWords, stepWords } from "./step-words.ts";

/** One line without a line break; the same on a terminal and in a CI log. */
export function progressText(event: ApplyEvent, palette: Palette): string {
  switch (event.type) {
    case "step-start":
      return line(event.address, `${stepWords(event.operation, event.verb).doing}...`, palette);
    case "step-progress": {
      const { doing } = stepWords(event.operation, event.verb);
      const status = event.detail === "" ? "" : ` ${escapeText(event.detail, 300)}`;
      return line(
        event.address,
        `still ${doing}... ${palette.dim(`[${elapsedTime(event.elapsed)} elapsed]${status}`)}`,
        palette,
      );
    }
    case "step-end":
      return line(event.outcome.address, endOf(event.outcome, palette), palette);
    case "warning": {
      const where = event.address === undefined ? "" : `${escapeText(event.address, 300)}: `;
      return `${where}${palette.yellow("warning:")} ${escapeText(event.message)}`;
    }
  }
}

function line(address: string, rest: string, { bold }: Palette): string {
  return `${bold(`${escapeText(address, 300)}:`)} ${rest}`;
}

function endOf(step: StepOutcome, palette: Palette): string {
  const time = formatDuration(step.elapsed);
  const id = step.id === undefined ? "" : palette.dim(` [id=${escapeText(step.id, 100)}]`);
  if (step.result === "done") {
    const done = doneWords(step);
    const message = step.message === undefined ? "" : `: ${escapeText(step.message)}`;
    return `${palette.green(`${done} in ${time}`)}${id}${message}`;
  }
  const tone = step.result === "failed" || step.result === "stale" ? palette.red : palette.yellow;
  const words = step.result.replaceAll("-", " ");
  return `${tone(`${words} after ${time}`)}${id}${step.message === undefined ? "" : `: ${escapeText(step.message)}`}`;
}
