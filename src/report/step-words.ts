/** @module Names the operations of a plan in progress messages. */
import type { StepOutcome } from "../model/outcome.ts";
import type { Operation } from "../model/plan.ts";
import { escapeText } from "./escape.ts";

/** Words for one operation: while it runs, and when it is done. */
export interface StepWords {
  readonly doing: string;
  readonly done: string;
}

const operations: { readonly [operation in Exclude<Operation, "operate">]: StepWords } = {
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
};

/** The words of a step that is done: its operation, or that nothing had to be sent. */
export function doneWords({
  operation,
  verb,
  unsent,
}: Pick<StepOutcome, "operation" | "verb" | "unsent">): string {
  return unsent === true ? "as declared already, nothing was sent" : stepWords(operation, verb).done;
}

/** The words of an operation, escaped; `verb` is that of an `operate` step. */
export function stepWords(operation: Operation, verb: string | undefined): StepWords {
  if (operation !== "operate") return operations[operation];
  const known = verb !== undefined && Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (known !== undefined) return known;
  if (verb === undefined) return { doing: "working", done: "done" };
  const name = escapeText(verb, 100);
  return { doing: `${name} in progress`, done: `${name} done` };
}
