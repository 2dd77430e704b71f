/** @module Formats a drift report as text for the terminal. */
import { countUnread, type Happening } from "../../model/drift.ts";
import { censusLines, wayLines } from "../block-lines.ts";
import { escapeText, quoteText } from "../escape.ts";
import { fieldLines, fieldRow, outputLines } from "../field-lines.ts";
import { headLines, type Sign } from "../head-lines.ts";
import type { Page, Palette } from "../palette.ts";
import { reasonTexts } from "../probe-census.ts";
import type { ShownDrift } from "../shown.ts";
import { withoutColour, wrapIndented } from "../text-width.ts";
import type { DriftBlockView } from "../view/drift-block-view.ts";
import { type DriftGroupView, type DriftView, driftView } from "../view/drift-view.ts";
import { amount, type KindNames, sinceText, sourceMeanings, timeText } from "../words.ts";

/** Layout of a drift report; with `verbose` also what does not matter. */
export interface DriftPage extends Page {
  readonly verbose: boolean;
}

/**
 * The report as text: what was changed outside, worst first; what is not applied yet; what was looked at; and the verdict.
 * Ends with a line break.
 */
export function driftText(report: ShownDrift, names: KindNames, page: DriftPage): string {
  const view = driftView(report, names);
  const title = `Drift of ${escapeText(view.name, 100)}${view.complete ? "" : " (incomplete)"}`;
  const matters = view.groups.filter(({ matters: is }) => is);
  const found = [
    ...matters.flatMap((group) => groupBlocks(group, page)),
    unmanagedLines(view, page),
    ...(page.verbose
      ? [
          ...view.groups
            .filter((group) => !matters.includes(group))
            .flatMap((group) => groupBlocks(group, page)),
          outputLines(view.outputs, page),
        ]
      : []),
  ];
  const blocks = [
    [page.palette.bold(title)],
    ...found,
    wayOutLines(view, page),
    [...checkedLines(view, page), ...sourceLines(found.flat(), page)],
    verdictLines(view, page),
  ];
  const written = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return `${written.join("\n\n")}\n`;
}

const tones: { readonly [severity in DriftGroupView["severity"]]: keyof Palette } = {
  bad: "red",
  careful: "yellow",
  quiet: "cyan",
};

function groupBlocks(
  { title, note, severity, count, blocks }: DriftGroupView,
  page: DriftPage,
): readonly (readonly string[])[] {
  const { palette, width } = page;
  const words = `${title} (${count})`;
  const head = palette.bold(palette[tones[severity]](words));
  const isWide = words.length + note.length + 3 > width;
  const noted =
    note === "" ? [head] : isWide ? [head, palette.dim(note)] : [head + palette.dim(` · ${note}`)];
  return [noted, ...blocks.map((block) => blockLines(block, page))];
}

const signs: { readonly [what in Happening]: Sign } = {
  deleted: { mark: "-", tone: "red" },
  failed: { mark: "!", tone: "red" },
  stopped: { mark: "!", tone: "red" },
  started: { mark: "!", tone: "yellow" },
  changed: { mark: "!", tone: "yellow" },
  renamed: { mark: "!", tone: "yellow" },
  unapplied: { mark: "~", tone: "cyan" },
  unimportant: { mark: "=", tone: "dim" },
};

const fieldSigns: { readonly [is in DriftBlockView["class"]]: Sign } = {
  outside: signs.changed,
  ours: signs.unapplied,
  cosmetic: signs.unimportant,
};

/** Says where the resources are that a block leaves out. Those that were deleted are all named. */
const more = "graphform drift --json lists them";

function blockLines(block: DriftBlockView, page: DriftPage): readonly string[] {
  const { addresses, what, reason, waysOn, since, events, moreEvents, fields } = block;
  const { palette, width } = page;
  const right = since === undefined ? "" : `; last seen right ${escapeText(sinceText(since), 80)}`;
  const shown = fields.filter((field) => page.verbose || field.class !== "cosmetic");
  return [
    ...headLines(addresses, signs[what], page, what === "deleted" ? undefined : more),
    ...wrapIndented("    ", `${escapeText(reason)}${right}`, width),
    ...wayLines(waysOn, page),
    ...events.flatMap(({ time, user, message }) =>
      wrapIndented(
        "    ",
        `${escapeText(timeText(time), 40)}${user === undefined ? "" : ` ${escapeText(user, 100)}`}: ${escapeText(message, 200)}`,
        width,
      ).map(palette.dim),
    ),
    ...(moreEvents === 0 ? [] : [palette.dim(`    and ${amount(moreEvents, "earlier event")}`)]),
    ...fieldLines(
      shown.map((field) => fieldRow(field, fieldSigns[field.class])),
      4,
      page,
    ),
  ];
}

function unmanagedLines({ unmanaged, unmanagedWay }: DriftView, page: Page): readonly string[] {
  if (unmanaged.length === 0) return [];
  const { palette, width } = page;
  const lines = unmanaged.flatMap(({ noun, id, name }) => {
    const called = name === undefined ? "" : ` ${quoteText(name, 100)}`;
    return wrapIndented("  ? ", `${escapeText(noun, 100)} ${escapeText(id, 200)}${called}`, width);
  });
  const way = wrapIndented("    ", `way out: ${unmanagedWay}`, width);
  return [palette.bold(palette.yellow(`Not declared (${unmanaged.length})`)), "", ...lines, ...way];
}

/** The meanings of the sources that stand behind values. */
function sourceLines(lines: readonly string[], { width }: Page): readonly string[] {
  const meanings = sourceMeanings(lines.map((line) => withoutColour(line)));
  return meanings.length === 0 ? [] : wrapIndented("Signs     ", meanings.join(", "), width);
}

function wayOutLines({ ways }: DriftView, { palette, width }: Page): readonly string[] {
  const lines = ways.flatMap(({ command, text }) =>
    wrapIndented("  ", command === undefined ? text : `${escapeText(command, 330)} ${text}`, width),
  );
  return lines.length === 0 ? [] : [palette.bold("Way out"), ...lines];
}

/** Resources that are named of those that the report is not sure of for one reason. */
const named = 10;

function checkedLines({ census }: DriftView, { width }: Page): readonly string[] {
  const { notChecked, unfinished } = census;
  const open = [
    ...reasonTexts("not checked:", notChecked, named),
    ...reasonTexts("not at rest:", unfinished, named).map((text) => `${text}; look again when it is`),
  ];
  return [...censusLines(census, width), ...open.flatMap((line) => wrapIndented("          ", line, width))];
}

function verdictLines(view: DriftView, { palette, width }: Page): readonly string[] {
  const { counts, isDrift, verdict, seen } = view;
  const { ours, cosmetic } = counts;
  const also = [
    ...(ours === 0 ? [] : [`${amount(ours, "resource")} with changes that are not applied yet`]),
    ...(cosmetic === 0
      ? []
      : [`${amount(cosmetic, "difference")} that ${cosmetic === 1 ? "does" : "do"} not matter (--verbose)`]),
  ];
  const unread = countUnread(view.census);
  const [count, them] = unread === 1 ? ["One thing", "it"] : [`${unread} things`, "them"];
  const proven = `${count} could not be read: this proves nothing about ${them} (exit code 1).`;
  const tone = isDrift ? palette.yellow : palette.green;
  return [
    ...(also.length === 0 ? [] : wrapIndented("", `Also: ${also.join(", ")}.`, width)),
    ...(unread === 0 ? [] : wrapIndented("", proven, width).map(palette.red)),
    ...wrapIndented("", `${verdict} ${seen}`, width).map((line) => palette.bold(tone(line))),
  ];
}
