/** @module Formats the result of an apply as text. */
import type { StepOutcome } from "../model/outcome.ts";
import { formatDuration } from "../model/quantity.ts";
import { type Command, lastLine, unfinished, unsettledWords } from "./apply-events.ts";
import { escapeText } from "./escape.ts";
import { outputRows } from "./outputs-json.ts";
import type { Page, Palette } from "./palette.ts";
import type { ShownOutcome } from "./shown.ts";
import { wrapIndented } from "./text-width.ts";
import { amount } from "./words.ts";

/**
 * The result of a run: unfinished steps with the next action, differences that the verifying plan found, backups, warnings,
 * outputs, and last the line that scripts read. Ends with a line break.
 */
export function outcomeText(outcome: ShownOutcome, page: Page, command: Command = "apply"): string {
  const { palette, width } = page;
  const warnings = outcome.warnings.flatMap((warning) => wrapIndented("  ! ", escapeText(warning), width));
  const found = outcome.certificate.flatMap((difference) =>
    wrapIndented("  ✗ ", escapeText(unsettledWords(difference)), width),
  );
  const outputs = outputRows(outcome.outputs, palette);
  const blocks = [
    ...unfinished(outcome.steps).map(([result, steps]) => stepsBlock(result, steps, page, command)),
    found.length === 0
      ? []
      : [
          palette.bold(palette.red("Not as declared after apply")),
          ...found.map(palette.red),
          ...verificationNote(page),
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
function totalLines({ steps, elapsed }: ShownOutcome, { width }: Page): readonly string[] {
  if (elapsed === undefined || steps.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { result } of steps) counts.set(result, (counts.get(result) ?? 0) + 1);
  const { done = 0, ...others } = Object.fromEntries(counts);
  const rest = Object.entries(others).map(([result, count]) => `${count} ${result.replaceAll("-", " ")}`);
  const text = `${done} of ${amount(steps.length, "step")} done in ${formatDuration(elapsed)}`;
  return wrapIndented("", `Total: ${[text, ...rest].join("; ")}.`, width);
}

/** Counts what an earlier run has made: `added` does not tell of it. */
function resumedLines({ resumed = 0 }: ShownOutcome, { width }: Page): readonly string[] {
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

const headings: { readonly [result in StepOutcome["result"]]: Heading } = {
  done: { title: "Done", sign: "✓", tone: "green", hint: "" },
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

function stepsBlock(
  result: StepOutcome["result"],
  steps: readonly StepOutcome[],
  { palette, width }: Page,
  command: Command,
): readonly string[] {
  const { title, sign, tone, hint } = headings[result];
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

function verificationNote({ width }: Page): readonly string[] {
  const text =
    "a second plan after apply should have been empty: the service did not take these values, or changed them";
  return wrapIndented("    ", text, width);
}
