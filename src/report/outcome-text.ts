import type { Outcome, StepOutcome } from "../model/outcome.ts";
import { type Command, lastLine, unfinished } from "./apply-summary.ts";
import { escapeText } from "./escape.ts";
import { outputRows } from "./outputs-text.ts";
import type { Page, Palette } from "./palette.ts";
import { hang } from "./text-width.ts";

/**
 * How apply ended, for people: what is not done and the way on, what a second look found, the outputs, and last the
 * line that scripts read. Ends with a line break. `command` is what was run.
 */
export function outcomeText(outcome: Outcome, page: Page, command: Command = "apply"): string {
  const { palette, width } = page;
  const warnings = outcome.warnings.flatMap((warning) => hang("  ! ", escapeText(warning), width));
  const found = outcome.certificate.flatMap((difference) => hang("  ✗ ", escapeText(difference), width));
  const outputs = outputRows(outcome.outputs, palette);
  const blocks = [
    ...unfinished(outcome.steps).map(([result, steps]) => stepsBlock(result, steps, page, command)),
    found.length === 0
      ? []
      : [
          palette.bold(palette.red("Not as declared after apply")),
          ...found.map(palette.red),
          ...mistake(page),
        ],
    backupLines(outcome.steps, page),
    warnings.length === 0 ? [] : [palette.bold(palette.yellow("Warnings")), ...warnings],
    outputs.length === 0 ? [] : [palette.bold("Outputs"), ...outputs.map((output) => `  ${output}`)],
    [palette.bold((outcome.exitCode === 0 ? palette.green : palette.red)(lastLine(outcome, command)))],
  ];
  const written = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return `${written.join("\n\n")}\n`;
}

/** The backups that were made: whoever deletes by mistake needs their ids. */
function backupLines(steps: readonly StepOutcome[], { palette, width }: Page): readonly string[] {
  const made = steps.filter(({ operation, result }) => operation === "backup" && result === "done");
  if (made.length === 0) return [];
  const lines = made.flatMap(({ address, message = "" }) =>
    hang("  ✓ ", `${escapeText(address, 300)}: ${escapeText(message)}`, width),
  );
  return [palette.bold("Backups"), ...lines];
}

/** How the engine puts it, which does not know what was run. */
const again = "run apply again";

interface Ending {
  readonly title: string;
  readonly sign: string;
  readonly tone: keyof Palette;
  /** What to do where the step does not say it. */
  readonly hint: string;
}

const endings: { readonly [result in StepOutcome["result"]]: Ending } = {
  done: { title: "Done", sign: "✓", tone: "green", hint: "" },
  failed: { title: "Failed", sign: "✗", tone: "red", hint: "" },
  stale: { title: "Changed since the plan was made", sign: "✗", tone: "red", hint: "make a new plan" },
  interrupted: {
    title: "Interrupted",
    sign: "!",
    tone: "yellow",
    hint: "run apply again: it goes on where this one stopped",
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
    hint: "run apply again: it goes on waiting and starts nothing twice",
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
  const { title, sign, tone, hint } = endings[result];
  const lines = steps.flatMap((step) => {
    const message = step.message === undefined ? "" : `: ${escapeText(step.message)}`;
    const way = (step.hint ?? hint).replaceAll(again, `run ${command} again`);
    return [
      ...hang(`  ${sign} `, `${escapeText(step.address, 300)}${message}`, width).map(palette[tone]),
      ...(way === "" ? [] : hang("    way out: ", escapeText(way), width)),
    ];
  });
  return [palette.bold(palette[tone](`${title} (${steps.length})`)), ...lines];
}

function mistake({ width }: Page): readonly string[] {
  const said =
    "a second plan after apply should have been empty: the service did not take these values, or changed them";
  return hang("    ", said, width);
}
