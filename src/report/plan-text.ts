/** @module Formats a plan as text for the terminal. */
import { blockLines, wayLines } from "./block-lines.ts";
import { escapeText } from "./escape.ts";
import { fieldLines, fieldRow, outputLines } from "./field-lines.ts";
import { headLines } from "./head-lines.ts";
import type { Page, Palette } from "./palette.ts";
import { affectedLines, closingLines, importLines, importTitle, outlookLines } from "./plan-closing.ts";
import type { ShownPlan } from "./shown.ts";
import { withoutColour, wrapIndented } from "./text-width.ts";
import { type GroupView, type PlanView, type PlanViewOptions, planView } from "./view/plan-view.ts";
import { sourceMeanings } from "./words.ts";

/**
 * The plan as text: changes, worst first, then notes on unchanged resources, changed outputs, checks and impact, and last the
 * line that scripts read. Ends with a line break.
 */
export function planText(plan: ShownPlan, page: Page, options: PlanViewOptions = {}): string {
  const view = planView(plan, options);
  const title = `Plan for ${escapeText(view.name, 100)}${view.complete ? "" : " (incomplete)"}`;
  const changed = [
    ...view.groups.flatMap((group) => groupBlocks(group, view, page)),
    noteLines(view, page),
    outputLines(view.outputs, page),
  ];
  const imports = importLines(view);
  const blocks = [
    [page.palette.bold(title)],
    ...changed,
    imports.length === 0 ? [] : [page.palette.bold(importTitle), "", ...imports],
    [...outlookLines(view, page), ...legendLines(changed.flat(), page)],
    affectedLines(view, page),
    closingLines(view, page),
  ];
  const written = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return `${written.join("\n\n")}\n`;
}

const tones: { readonly [severity in GroupView["severity"]]: keyof Palette } = {
  bad: "red",
  careful: "yellow",
  good: "green",
  quiet: "cyan",
};

function groupBlocks(
  { title, note, severity, count, blocks }: GroupView,
  { affected, whole }: PlanView,
  page: Page,
): readonly (readonly string[])[] {
  const { palette } = page;
  const more = affected.some((one) => one.title === title) ? "all are named below" : `${whole} lists them`;
  const head = palette.bold(palette[tones[severity]](`${title} (${count})`));
  return [
    [head + (note === "" ? "" : palette.dim(` · ${note}`))],
    ...blocks.map((block) => blockLines(block, page, more)),
  ];
}

/** Notes on resources without changes: failed, in progress, waiting for a person, or changed outside. */
function noteLines({ notes, whole }: PlanView, page: Page): readonly string[] {
  const { palette, width } = page;
  const lines = notes.flatMap(({ addresses, is, text, waysOn, drifted }) => {
    const sign = is === "failed" ? ({ mark: "!", tone: "red" } as const) : unready;
    const rows = drifted.map((row) => fieldRow(row));
    return [
      ...headLines(addresses, sign, page, `${whole} lists them`),
      ...wrapIndented("    ", escapeText(text), width),
      ...wayLines(waysOn, page),
      ...fieldLines(rows, 4, page),
    ];
  });
  return lines.length === 0 ? [] : [palette.bold("Not ready, or changed outside"), "", ...lines];
}

const unready = { mark: "…", tone: "yellow" } as const;

/** Meanings, in the order of the legend. A sign stands at the begin of a line, a placeholder anywhere in a folded block. */
const meanings: readonly (readonly [sign: string, meaning: string])[] = [
  ["±", "replaced"],
  ["-", "deleted"],
  ["~", "changed in place"],
  ["+", "created"],
  ["↳", "bound: it exists already"],
  ["→", "moved to another address"],
  ["○", "no longer managed"],
  ["✗", "blocked"],
  ["!", "failed, or changed outside"],
  ["?", "not checked"],
  ["…", "not ready yet"],
];

const placeholders: readonly string[] = ["ADDRESS", "ID", "NAME", "KEY", "PREVIOUS"];

/** One line, or several on a narrow page: the signs that begin one of these lines, and words that stand for others. */
function legendLines(lines: readonly string[], { width }: Page): readonly string[] {
  const plain = lines.map((line) => withoutColour(line));
  const used = new Set(plain.map((line) => /^ {2}(?: {2}(?!→))?(\S) /u.exec(line)?.[1]));
  const signs = meanings.filter(([sign]) => used.has(sign)).map(([sign, meaning]) => `${sign} ${meaning}`);
  const isFolded = used.has("·");
  const words = placeholders.filter((word) => plain.some((line) => new RegExp(`\\b${word}\\b`).test(line)));
  const stand = words.length === 1 ? "stands for that" : "stand for those";
  const own = isFolded && words.length > 0 ? [`${words.join(", ")} ${stand} of each resource`] : [];
  const parts = [...signs, ...own, ...sourceMeanings(plain)];
  return parts.length === 0 ? [] : wrapIndented("Signs     ", parts.join(", "), width);
}
