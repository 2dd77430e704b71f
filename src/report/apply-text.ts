/** @module Formats the events and the result of an apply as text. */
import type { ApplyEvent, Outcome, StepOutcome, Unsettled } from "../model/outcome.ts";
import type { Operation } from "../model/plan.ts";
import { formatDuration } from "../model/quantity.ts";
import type { RedactedOutcome, RedactedValue } from "./redact.ts";
import { outputRows } from "./state-text.ts";
import { escapeText, type Page, type Palette, wrapIndented } from "./typeset.ts";
import { amount, elapsedTime } from "./words.ts";

/** The result of a run: unfinished steps, differences that verifying found, backups, warnings, outputs, and the line that scripts read. */
export function outcomeText(outcome: RedactedOutcome, page: Page, command: Command = "apply"): string {
  const { palette, width } = page;
  const warnings = outcome.warnings.flatMap((warning) => wrapIndented("  ! ", escapeText(warning), width));
  const found = outcome.certificate.flatMap((difference) =>
    wrapIndented("  ✗ ", escapeText(unsettledWords(difference)), width),
  );
  const outputs = outputRows(outcome.outputs, palette);
  const blocks = [
    ...Object.entries(headings).map((heading) => stepsBlock(outcome.steps, heading, page, command)),
    found.length === 0
      ? []
      : [
          palette.bold(palette.red("Not as declared after apply")),
          ...found.map(palette.red),
          ...wrapIndented(
            "    ",
            "a second plan after apply should have been empty: the service did not take these values, or changed them",
            width,
          ),
        ],
    backupLines(outcome.steps, page),
    warnings.length === 0 ? [] : [palette.bold(palette.yellow("Warnings")), ...warnings],
    outputs.length === 0 ? [] : [palette.bold("Outputs"), ...outputs.map((output) => `  ${output}`)],
    [
      ...totalLines(outcome, page),
      ...resumedLines(outcome, page),
      palette.bold((outcome.exitCode === 0 ? palette.green : palette.red)(lastLine(outcome, command))),
    ],
  ];
  const written = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return `${written.join("\n\n")}\n`;
}

/** All steps and the whole time: `Total: 60 of 61 steps done in 1 min 4 s; 1 failed.` */
function totalLines({ steps, elapsed }: RedactedOutcome, { width }: Page): readonly string[] {
  if (elapsed === undefined || steps.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { result } of steps) counts.set(result, (counts.get(result) ?? 0) + 1);
  const { done = 0, ...others } = Object.fromEntries(counts);
  const rest = Object.entries(others).map(([result, count]) => `${count} ${result.replaceAll("-", " ")}`);
  const text = `${done} of ${amount(steps.length, "step")} done in ${formatDuration(elapsed)}`;
  return wrapIndented("", `Total: ${[text, ...rest].join("; ")}.`, width);
}

/** Counts objects that an earlier run has made: `added` does not include them. */
function resumedLines({ resumed = 0 }: RedactedOutcome, { width }: Page): readonly string[] {
  if (resumed === 0) return [];
  const were = resumed === 1 ? "was" : "were";
  return wrapIndented("", `Resumed: ${amount(resumed, "create")} of an earlier run ${were} found.`, width);
}

/** Lists the new backups: their ids are needed to restore data that was deleted by mistake. */
function backupLines(steps: readonly StepOutcome[], { palette, width }: Page): readonly string[] {
  const made = steps.filter(({ operation, result }) => operation === "backup" && result === "done");
  if (made.length === 0) return [];
  const lines = made.flatMap(({ address, message = "" }) =>
    wrapIndented("  ✓ ", `${escapeText(address, 300)}: ${escapeText(message)}`, width),
  );
  return [palette.bold("Backups"), ...lines];
}

/** Phrase of the engine's hints, which do not know the command of the run. */
const runAgain = "run apply again";

interface Heading {
  readonly title: string;
  readonly sign: string;
  readonly tone: keyof Palette;
  /** Next action if the step has no hint. */
  readonly hint: string;
}

/** The results of unfinished steps, in the order of the report. */
const headings: { readonly [result in Exclude<StepOutcome["result"], "done">]: Heading } = {
  failed: { title: "Failed", sign: "✗", tone: "red", hint: "" },
  stale: { title: "Changed since the plan was made", sign: "✗", tone: "red", hint: "make a new plan" },
  interrupted: {
    title: "Interrupted",
    sign: "!",
    tone: "yellow",
    hint: "run apply again: it continues where this one stopped",
  },
  "waiting-for-person": {
    title: "Waiting for a person",
    sign: "…",
    tone: "yellow",
    hint: "do what the service asks for, then run apply again",
  },
  converging: {
    title: "Still converging",
    sign: "…",
    tone: "yellow",
    hint: "run apply again: it continues to wait and starts nothing twice",
  },
  blocked: { title: "Blocked", sign: "✗", tone: "red", hint: "" },
  skipped: { title: "Not started", sign: "○", tone: "dim", hint: "" },
};

/** Equal messages of one address appear once. */
function stepsBlock(
  outcomes: readonly StepOutcome[],
  [result, { title, sign, tone, hint }]: readonly [string, Heading],
  { palette, width }: Page,
  command: Command,
): readonly string[] {
  const all = outcomes.filter((step) => step.result === result);
  if (all.length === 0) return [];
  const steps = [...new Map(all.map((step) => [`${step.address} ${step.message ?? ""}`, step])).values()];
  const lines = steps.flatMap((step) => {
    const message = step.message === undefined ? "" : `: ${escapeText(step.message)}`;
    const action = (step.hint ?? hint).replaceAll(runAgain, `run ${command} again`);
    return [
      ...wrapIndented(`  ${sign} `, `${escapeText(step.address, 300)}${message}`, width).map(palette[tone]),
      ...(action === "" ? [] : wrapIndented("    way out: ", escapeText(action), width)),
    ];
  });
  return [palette.bold(palette[tone](`${title} (${steps.length})`)), ...lines];
}

/** One line without a line break; the same on a terminal and in a CI log. */
export function progressText(event: ApplyEvent, palette: Palette): string {
  switch (event.type) {
    case "step-start":
      return line(event.address, `${stepWords(event.operation, event.verb).doing}...`, palette);
    case "step-progress": {
      const { doing } = stepWords(event.operation, event.verb);
      const status = event.detail === "" ? "" : ` ${escapeText(event.detail, 300)}`;
      const time = palette.dim(`[${elapsedTime(event.elapsed)} elapsed]${status}`);
      return line(event.address, `still ${doing}... ${time}`, palette);
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
  const message = step.message === undefined ? "" : `: ${escapeText(step.message)}`;
  if (step.result === "done") return `${palette.green(`${doneWords(step)} in ${time}`)}${id}${message}`;
  const tone = step.result === "failed" || step.result === "stale" ? palette.red : palette.yellow;
  return `${tone(`${step.result.replaceAll("-", " ")} after ${time}`)}${id}${message}`;
}

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
  preflight: { doing: "checking whether its data can be moved", done: "data checked" },
  cutover: { doing: "moving its data", done: "data moved" },
  hook: { doing: "ending the migration with its hook", done: "migration ended" },
  undo: { doing: "going back", done: "went back" },
};

/** The words of a step that is done: its operation, or that nothing had to be sent. */
export function doneWords({ operation, verb, unsent }: StepOutcome): string {
  if (unsent !== true || operation === "migrate") return stepWords(operation, verb).done;
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

/** Words a difference that is left after an apply, in one line. */
export function unsettledWords({ address, reason, field }: Unsettled<RedactedValue>): string {
  if (field === undefined) return `${address}: ${reason}`;
  const [before, after] = [field.before?.text ?? "not shown", field.after?.text ?? "not shown"];
  return `${address}: ${field.path} is ${before} after apply, and ${after} was declared`;
}

/** The command of the run, for messages that tell to run it again. */
export type Command = "apply" | "destroy";

/** The last line of every apply and destroy. Its form is stable, because scripts read it. */
export function lastLine(
  { added, changed, destroyed, exitCode }: Outcome<unknown>,
  command: Command,
): string {
  const ending = exitCode === 0 ? "complete!" : "incomplete.";
  return command === "destroy"
    ? `Destroy ${ending} Resources: ${destroyed} destroyed.`
    : `Apply ${ending} Resources: ${added} added, ${changed} changed, ${destroyed} destroyed.`;
}
