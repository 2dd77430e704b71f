/** @module Formats one event of a running apply as a line of text. */
import type { ApplyEvent, StepOutcome } from "../model/outcome.ts";
import type { Operation } from "../model/plan.ts";
import { formatDuration } from "../model/quantity.ts";
import { escapeText } from "./escape.ts";
import type { Palette } from "./palette.ts";
import { elapsedTime } from "./words.ts";

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

/** Words for one operation: while it runs, and when it is done. */
interface StepWords {
  readonly doing: string;
  readonly done: string;
}

const operations: { readonly [operation in Exclude<Operation, "operate" | "migrate">]: StepWords } = {
  create: { doing: "creating", done: "created" },
  update: { doing: "updating", done: "updated" },
  heal: { doing: "setting back in the database", done: "set back in the database" },
  delete: { doing: "deleting", done: "deleted" },
  backup: { doing: "backing up", done: "backed up" },
  bind: { doing: "binding", done: "bound" },
  forget: { doing: "removing from the state", done: "removed from the state" },
  wait: { doing: "waiting", done: "ready" },
  move: { doing: "moving", done: "moved" },
};

const verbs: { readonly [verb: string]: StepWords } = {
  start: { doing: "starting", done: "started" },
  stop: { doing: "stopping", done: "stopped" },
  restart: { doing: "restarting", done: "restarted" },
  upgrade: { doing: "upgrading", done: "upgraded" },
  failover: { doing: "failing over", done: "failed over" },
  preflight: { doing: "checking whether its data can be moved", done: "can be moved" },
  cutover: { doing: "moving its data", done: "data moved" },
  hook: { doing: "running the hook", done: "hook has run" },
  undo: { doing: "going back", done: "went back" },
};

/** The words of a step that is done: its operation, or that nothing had to be sent. */
export function doneWords({
  operation,
  verb,
  unsent,
}: Pick<StepOutcome, "operation" | "verb" | "unsent">): string {
  if (unsent !== true) return stepWords(operation, verb).done;
  return operation === "delete" ? "gone without a request" : "as declared already, nothing was sent";
}

/** The words of an operation, escaped; `verb` is that of an `operate` step. */
export function stepWords(operation: Operation, verb: string | undefined): StepWords {
  if (operation !== "operate" && operation !== "migrate") return operations[operation];
  const known = verb !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (known !== undefined) return known;
  if (verb === undefined) return { doing: "working", done: "done" };
  const name = escapeText(verb, 100);
  return { doing: `${name} in progress`, done: `${name} done` };
}
