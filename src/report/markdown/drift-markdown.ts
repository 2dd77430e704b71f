/** @module Formats a drift report as Markdown for an issue, a comment or the summary of a step. */
import { countUnread } from "../../model/drift.ts";
import { escapeText, quoteText } from "../escape.ts";
import type { ShownDrift } from "../shown.ts";
import type { DriftBlockView } from "../view/drift-block-view.ts";
import { type DriftGroupView, type DriftView, driftView } from "../view/drift-view.ts";
import { amount, type KindNames, sinceText, timeText } from "../words.ts";
import { addressLines, addressText, codeSpan, type Detail, fieldLines, wayLines } from "./block-lines.ts";
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
import { bytesOf, marker, type Part, type Section, withinBudget } from "./within-budget.ts";

const command = "graphform drift --verbose";

/**
 * The report as Markdown: marker, verdict, counts, what was changed outside unfolded, the rest folded, checks and ways out. Foreign text
 * stands in code alone. What does not fit into `bytes` is counted. Ends with a line break.
 */
export function driftMarkdown(report: ShownDrift, names: KindNames, bytes: number = reportBytes): string {
  const view = driftView(report, names);
  const head = headOf(view);
  const foot = footOf(view);
  const room = bytes - bytesOf(`${head}\n\n${foot}\n`) - 4;
  const sections = withinBudget(sectionsOf(view), room);
  return `${[head, ...sections, foot].join("\n\n")}\n`;
}

function headOf({ name, verdict, seen, complete, counts, unmanaged, census }: DriftView): string {
  const { outside, ours, cosmetic } = counts;
  return [
    marker("drift", name),
    `## Drift of ${codeSpan(name, 100)}`,
    `**${verdict}** ${seen}`,
    ...incompleteNote(complete, census, countUnread(census)),
    table([
      ["changed outside", outside],
      ["not declared", unmanaged.length],
      ["not applied yet", ours],
      ["does not matter", cosmetic],
    ]),
  ].join("\n\n");
}

function sectionsOf({ groups, unmanaged, unmanagedWay, census }: DriftView): readonly Section[] {
  const lines = unmanaged.map(({ noun, id, name }) => {
    const called = name === undefined ? "" : ` ${quoteText(name, 100)}`;
    return one(`? ${escapeText(noun, 100)} ${escapeText(id, 200)}${called}`);
  });
  const unsure = [...census.notChecked, ...census.unfinished].map(({ address, reason }) =>
    one(`! ${escapeText(address, 300)}: ${escapeText(reason, 500)}`),
  );
  const note = `Way out: ${unmanagedWay}.`;
  const undeclared = openSection({ title: "Not declared", note, count: lines.length, parts: lines, command });
  return [
    ...groups.filter(({ severity }) => severity !== "quiet").map(groupSection),
    undeclared,
    ...groups.filter(({ severity }) => severity === "quiet").map(groupSection),
    foldedSection("Not checked, or not at rest", unsure, command),
  ].filter(({ parts }) => parts.length > 0);
}

function one(line: string): Part {
  return { full: [line], short: [], count: 1 };
}

function groupSection({ title, note, severity, count, blocks }: DriftGroupView): Section {
  const parts = blockParts(blocks, blockLines);
  if (severity === "quiet") return foldedSection(title, parts, command);
  return openSection({ title, note, count, parts, command });
}

function blockLines(block: DriftBlockView, detail: Detail): readonly string[] {
  const { addresses, what, reason, waysOn, since, events, moreEvents, fields } = block;
  const [first, ...others] = addresses;
  const isOne = first !== undefined && others.length === 0;
  const right = since === undefined ? "" : `; last seen right ${sinceText(since)}`;
  return [
    `@@ ${what} ${isOne ? addressText(first) : amount(addresses.length, "resource")} @@`,
    ...(isOne ? [] : addressLines(addresses, detail)),
    `# ${escapeText(reason, 1000)}${escapeText(right, 100)}`,
    ...wayLines(waysOn),
    ...events.map(({ time, user, message }) => {
      const who = user === undefined ? "" : ` ${escapeText(user, 100)}`;
      return `# ${escapeText(timeText(time), 40)}${who}: ${escapeText(message, 200)}`;
    }),
    ...(moreEvents === 0 ? [] : [`# and ${amount(moreEvents, "earlier event")}`]),
    ...(detail === "full"
      ? fields.flatMap(fieldLines)
      : fields.length === 0
        ? []
        : [`# ${amount(fields.length, "field")} left out`]),
  ];
}

function footOf({ census, ways }: DriftView): string {
  return [
    censusTable(census),
    ...partialNote(census),
    ...probeParagraph(census),
    ...(ways.length === 0
      ? []
      : [
          ways
            .map(({ command: way, text }) => `- ${way === undefined ? "" : `${codeSpan(way)} `}${text}`)
            .join("\n"),
        ]),
  ].join("\n\n");
}
