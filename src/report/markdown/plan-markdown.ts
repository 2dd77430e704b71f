/** @module Formats a plan as Markdown for a pull request. */

import { importLines, importTitle } from "../plan-closing.ts";
import type { ShownPlan } from "../shown.ts";
import { type AffectedView, type GroupView, type PlanView, planView } from "../view/plan-view.ts";
import { aboutTime, amount } from "../words.ts";
import { blockLines, codeSpan, fence, noteLines, outputLines } from "./block-lines.ts";
import {
  blockParts,
  censusTable,
  foldedSection,
  incompleteNote,
  openSection,
  partialNote,
  probeParagraph,
  reportBytes,
  table,
} from "./sections.ts";
import { bytesOf, marker, type Section, withinBudget } from "./within-budget.ts";

/** Options of a report in Markdown. */
export interface MarkdownOptions {
  /** File of the saved plan: the next command names it. */
  readonly planFile?: string | undefined;
  /** Command that carries the plan out where it was not saved. */
  readonly command?: "apply" | "destroy";
  /** Most bytes; GitHub takes 65 536 characters in a comment. */
  readonly bytes?: number;
}

/**
 * The plan as Markdown: marker, verdict, counts, everything destructive or disruptive unfolded, the rest folded, checks, impact and
 * fingerprint. Foreign text stands in code alone. What does not fit is counted. Ends with a line break.
 */
export function planMarkdown(plan: ShownPlan, options: MarkdownOptions = {}): string {
  const view = planView(plan, options);
  const head = headOf(view);
  const foot = footOf(view);
  const room = (options.bytes ?? reportBytes) - bytesOf(`${head}\n\n${foot}\n`) - 4;
  const sections = withinBudget(sectionsOf(view), room).filter((section) => section !== "");
  return `${[head, ...sections, foot].join("\n\n")}\n`;
}

function headOf({ name, verdict, complete, counts, summaryLine, census }: PlanView): string {
  const { gone, ...others } = counts;
  const columns = Object.entries(gone === 0 ? others : { gone, ...others });
  return [
    marker("plan", name),
    `## Plan for ${codeSpan(name, 100)}`,
    `**${verdict}**`,
    ...incompleteNote(complete, census),
    table(columns),
    summaryLine,
  ].join("\n\n");
}

function sectionsOf(view: PlanView): readonly Section[] {
  const { affected, groups, notes, outputs, whole } = view;
  const imports = importLines(view);
  return [
    ...affected.map((entry) => namesSection(entry, whole)),
    ...groups.map((group) => groupSection(group, whole)),
    {
      parts: imports.length === 0 ? [] : [{ full: imports, short: [], count: view.mayBe.length }],
      render: (lines: readonly string[], leftOut: number) =>
        lines.length === 0
          ? `${importTitle}: ${codeSpan(whole, 500)} has all ${leftOut}.`
          : `${importTitle}:\n\n${fence("yaml", lines)}`,
    },
    foldedSection(
      "Not ready, or changed outside",
      notes.map((note) => ({ full: noteLines(note), short: [], count: note.addresses.length })),
      whole,
    ),
    foldedSection(
      "Outputs",
      outputs.map((output) => ({ full: outputLines(output), short: [], count: 1 })),
      whole,
    ),
  ].filter(({ parts }) => parts.length > 0);
}

function groupSection(group: GroupView, command: string): Section {
  const { title, note, blocks, count } = group;
  const parts = blockParts(blocks, blockLines);
  if (!isDisruptive(group)) return foldedSection(title, parts, command);
  return openSection({ title, note, count, parts, command });
}

/** Everything that is disrupted in one way, by name: it comes before any detail. */
function namesSection({ title, addresses }: AffectedView, command: string): Section {
  return {
    parts: addresses.map((address) => ({ full: [`${codeSpan(address)},`], short: [], count: 1 })),
    render: (spans, leftOut) => {
      const names = spans.join(" ").replace(/,$/, "");
      const more = leftOut === 0 ? "" : ` and ${leftOut} more: ${codeSpan(command, 500)} has all.`;
      return `**${title} (${addresses.length}):** ${names}${more}`;
    },
  };
}

/** Groups that somebody has to see without opening anything. */
function isDisruptive({ severity, blocks }: GroupView): boolean {
  return severity === "bad" || blocks.some(({ disruption }) => disruption !== "none");
}

function footOf({ census, forecast, disruption, next, fingerprint, severity }: PlanView): string {
  const held = disruption.flatMap(({ disruption: is, blocked }) =>
    is === "none" || blocked === 0 ? [] : [`${blocked} with ${is.replace("-", " ")} blocked`],
  );
  const impact = [
    amount(forecast.restarts, "restart"),
    amount(forecast.replacements, "replacement"),
    ...held,
    aboutTime(forecast.seconds),
  ].join(", ");
  return [
    censusTable(census),
    ...partialNote(census),
    ...probeParagraph(census),
    ...(severity === "nothing" ? [] : [`Impact: ${impact}.`]),
    `${next.command === undefined ? "" : `Next: ${codeSpan(next.command, 500)}. `}${next.note}`,
    `Plan fingerprint: ${codeSpan(fingerprint, 100)}`,
  ].join("\n\n");
}
