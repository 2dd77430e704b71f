/** @module Formats a drift report as text for the terminal. */
import { type DriftReport, type Happening, hasDrift, type ResourceDrift } from "../model/drift.ts";
import { shellWord } from "../model/shell-word.ts";
import { closingDriftLines } from "./drift-closing.ts";
import { driftLines, outputDriftLines, unimportantLines } from "./drift-lines.ts";
import { escapeText, quoteText } from "./escape.ts";
import type { KindNames } from "./kind-words.ts";
import type { Page, Palette } from "./palette.ts";
import { wrapIndented } from "./text-width.ts";

/** Layout of a drift report; with `verbose` also what does not matter. */
export interface DriftPage extends Page {
  readonly verbose: boolean;
}

const groups: readonly {
  readonly what: readonly Happening[];
  readonly title: string;
  readonly note: string;
  readonly tone: keyof Palette;
}[] = [
  { what: ["deleted"], title: "Deleted outside", note: "", tone: "red" },
  { what: ["failed"], title: "Failed", note: "", tone: "red" },
  { what: ["stopped", "started"], title: "Stopped or started outside", note: "", tone: "red" },
  { what: ["changed", "renamed"], title: "Changed outside", note: "", tone: "yellow" },
  {
    what: ["unapplied"],
    title: "Not applied yet",
    note: "the manifest has changed, not the world: no drift",
    tone: "cyan",
  },
];

/**
 * The report as text: what was changed outside, worst first; what is not applied yet; what was looked at; and the verdict.
 * Ends with a line break.
 */
export function driftText(report: DriftReport, names: KindNames, page: DriftPage): string {
  const { palette } = page;
  const title = `Drift of ${escapeText(report.name, 100)}${report.complete ? "" : " (incomplete)"}`;
  const blocks = [
    [palette.bold(title)],
    ...groups.flatMap((group) => groupBlocks(group, report.resources, names, page)),
    unmanagedLines(report, names, page),
    ...(page.verbose ? [unimportantLines(report, names, page), outputDriftLines(report, page)] : []),
    wayOutLines(report, page),
    ...closingDriftLines(report, page),
  ];
  const written = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return `${written.join("\n\n")}\n`;
}

function groupBlocks(
  { what, title, note, tone }: (typeof groups)[number],
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
  const way = wrapIndented(
    "    ",
    "way out: declare it and bind it with graphform import ADDRESS ID, or delete it at the service",
    width,
  );
  return [palette.bold(palette.yellow(`Not declared (${unmanaged.length})`)), "", ...lines, ...way];
}

/** The two ways out, once for all: back to what is declared, or the manifest follows the world. */
function wayOutLines(report: DriftReport, { palette, width }: Page): readonly string[] {
  if (!hasDrift(report)) return [];
  const outside = report.resources.filter((resource) => resource.class === "outside");
  if (outside.length === 0) return [];
  const isDeleted = outside.some(({ what }) => what === "deleted");
  const field = outside
    .flatMap(({ address, fields }) => fields.map((entry) => ({ address, ...entry })))
    .find((entry) => entry.class === "outside" && !entry.secret);
  return [
    palette.bold("Way out"),
    ...wrapIndented("  ", "graphform plan shows what putting it back takes; graphform apply does it", width),
    ...(field === undefined
      ? []
      : wrapIndented(
          "  ",
          `graphform drift --adopt ${wordOf(`${field.address}.${field.path}`)} writes the live value into the manifest`,
          width,
        )),
    ...(isDeleted
      ? wrapIndented(
          "  ",
          "deleted, and that is meant: remove the block, or list the address under removed",
          width,
        )
      : []),
  ];
}

function wordOf(text: string): string {
  return escapeText(shellWord(text), 300);
}
