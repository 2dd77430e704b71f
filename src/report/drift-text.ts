/** @module Formats a drift report as text for the terminal. */
import type { DriftReport, ResourceDrift } from "../model/drift.ts";
import { closingDriftLines } from "./drift-closing.ts";
import { type DriftGroup, driftGroups } from "./drift-groups.ts";
import { driftLines, outputDriftLines, unimportantLines } from "./drift-lines.ts";
import { wayOfUnmanaged, waysOut } from "./drift-ways.ts";
import { escapeText, quoteText } from "./escape.ts";
import type { KindNames } from "./kind-words.ts";
import type { Page } from "./palette.ts";
import { sourceMeanings } from "./source-words.ts";
import { withoutColour, wrapIndented } from "./text-width.ts";

/** Layout of a drift report; with `verbose` also what does not matter. */
export interface DriftPage extends Page {
  readonly verbose: boolean;
}

/**
 * The report as text: what was changed outside, worst first; what is not applied yet; what was looked at; and the verdict.
 * Ends with a line break.
 */
export function driftText(report: DriftReport, names: KindNames, page: DriftPage): string {
  const { palette } = page;
  const title = `Drift of ${escapeText(report.name, 100)}${report.complete ? "" : " (incomplete)"}`;
  const found = [
    ...driftGroups.flatMap((group) => groupBlocks(group, report.resources, names, page)),
    unmanagedLines(report, names, page),
    ...(page.verbose ? [unimportantLines(report, names, page), outputDriftLines(report, page)] : []),
  ];
  const [checked, verdict] = closingDriftLines(report, page);
  const blocks = [
    [palette.bold(title)],
    ...found,
    wayOutLines(report, page),
    [...checked, ...sourceLines(found.flat(), page)],
    verdict,
  ];
  const written = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return `${written.join("\n\n")}\n`;
}

function groupBlocks(
  { what, title, note, tone }: DriftGroup,
  resources: readonly ResourceDrift[],
  names: KindNames,
  page: DriftPage,
): readonly (readonly string[])[] {
  const { palette, width } = page;
  const found = resources.filter((resource) => what.includes(resource.what));
  if (found.length === 0) return [];
  const words = `${title} (${found.length})`;
  const head = palette.bold(palette[tone](words));
  const isWide = words.length + note.length + 3 > width;
  const noted =
    note === "" ? [head] : isWide ? [head, palette.dim(note)] : [head + palette.dim(` · ${note}`)];
  return [noted, ...found.map((resource) => driftLines(resource, names, page))];
}

function unmanagedLines({ unmanaged = [] }: DriftReport, names: KindNames, page: Page): readonly string[] {
  if (unmanaged.length === 0) return [];
  const { palette, width } = page;
  const lines = unmanaged.flatMap(({ kind, id, name }) => {
    const called = name === undefined ? "" : ` ${quoteText(name, 100)}`;
    const noun = Object.hasOwn(names, kind) ? names[kind]?.noun : undefined;
    return wrapIndented("  ? ", `${noun ?? escapeText(kind, 100)} ${escapeText(id, 200)}${called}`, width);
  });
  const way = wrapIndented("    ", `way out: ${wayOfUnmanaged}`, width);
  return [palette.bold(palette.yellow(`Not declared (${unmanaged.length})`)), "", ...lines, ...way];
}

/** The meanings of the sources that stand behind values. */
function sourceLines(lines: readonly string[], { width }: Page): readonly string[] {
  const meanings = sourceMeanings(lines.map((line) => withoutColour(line)));
  return meanings.length === 0 ? [] : wrapIndented("Signs     ", meanings.join(", "), width);
}

function wayOutLines(report: DriftReport, { palette, width }: Page): readonly string[] {
  const lines = waysOut(report).flatMap(({ command, text }) =>
    wrapIndented("  ", command === undefined ? text : `${escapeText(command, 330)} ${text}`, width),
  );
  return lines.length === 0 ? [] : [palette.bold("Way out"), ...lines];
}
