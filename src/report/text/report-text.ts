/** @module Formats the view of a plan or a drift report as text for the terminal. */
import { escapeText, type Page, withoutColour, wrapIndented, wrapWords } from "../typeset.ts";
import { maxNamed } from "../view/plan-view.ts";
import { type GroupView, importTitle, type ListView, type ReportView } from "../view/report-view.ts";
import { sourceMeanings } from "../words.ts";
import { blockLines, colours, fieldLines } from "./field-lines.ts";

/** Layout of a report; with `verbose` also what does not matter. */
export interface ReportPage extends Page {
  readonly verbose?: boolean;
}

/** The report as text: worst first, then what it rests on, and last the line that scripts read. Ends with a line break. */
export function reportText(view: ReportView, page: ReportPage): string {
  const { palette } = page;
  const { report, title, name, incomplete, groups, lists, outputs, imports } = view;
  const isMinor = (group: GroupView): boolean => group.isMinor === true;
  const sections = (of: readonly GroupView[]): readonly (readonly string[])[] =>
    of.flatMap((group) => groupSections(group, view, page));
  const found = [
    ...sections(groups.filter((group) => !isMinor(group))),
    ...lists.filter(({ isOpen }) => isOpen).map((list) => listLines(list, page)),
    ...(page.verbose === true ? sections(groups.filter(isMinor)) : []),
    ...(outputs.length === 0 || (report === "drift" && page.verbose !== true)
      ? []
      : [[palette.bold("Outputs"), "", ...fieldLines(outputs, 2, page)]]),
  ];
  const blocks = [
    [palette.bold(`${title} ${escapeText(name, 100)}${incomplete === "" ? "" : " (incomplete)"}`)],
    ...found,
    imports.length === 0 ? [] : [palette.bold(importTitle), "", ...imports],
    remedyLines(view, page),
    [...censusLines(view, page), ...legendLines(found.flat(), report === "plan", page)],
    affectedLines(view, page),
    closingLines(view, page),
  ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join("\n"))
    .join("\n\n")}\n`;
}

function groupSections(
  { title, note, tone, count, blocks, isTight }: GroupView,
  { affected, whole }: ReportView,
  page: ReportPage,
): readonly (readonly string[])[] {
  const { palette, width } = page;
  const below = affected.find((one) => one.title === title)?.addresses.length ?? 0;
  const named = below > maxNamed ? `the first ${maxNamed} are named below` : "all are named below";
  const more = below === 0 ? `${whole} lists them` : named;
  const words = `${title} (${count})`;
  const head = palette.bold(palette[colours[tone]](words));
  const isWide = words.length + note.length + 3 > width;
  const noted =
    note === "" ? [head] : isWide ? [head, palette.dim(note)] : [head + palette.dim(` · ${note}`)];
  const lines = blocks.map((block) => {
    const fields = block.fields.filter(({ role }) => page.verbose === true || role !== "unimportant");
    return blockLines({ ...block, fields }, page, more);
  });
  return isTight === true ? [noted, lines.flat()] : [noted, ...lines];
}

function listLines({ title, items, remedy }: ListView, { palette, width }: Page): readonly string[] {
  return [
    palette.bold(palette.yellow(`${title} (${items.length})`)),
    "",
    ...items.flatMap(({ name, text }) => wrapIndented("  ? ", `${name} ${text}`.trimEnd(), width)),
    ...(remedy === undefined ? [] : wrapIndented("    ", `way out: ${remedy}`, width)),
  ];
}

function remedyLines({ remedies }: ReportView, { palette, width }: Page): readonly string[] {
  const lines = remedies.flatMap(({ command, text }) =>
    wrapIndented("  ", command === undefined ? text : `${command} ${text}`, width),
  );
  return lines.length === 0 ? [] : [palette.bold("Way out"), ...lines];
}

/** Number of checked resources, the sources of their values, the databases that were asked, and the impact of an apply. */
function censusLines({ census, impact }: ReportView, { width }: Page): readonly string[] {
  const counted = (counts: typeof census.values): string =>
    counts.map(({ count, word }) => `${count} ${word}`).join(", ");
  const values = census.values.length === 0 ? [] : [`values: ${counted(census.values)}`];
  return [
    ...wrapIndented("Checked   ", counted(census.resources), width),
    ...[...values, ...census.notes, ...census.unsure].flatMap((text) =>
      wrapIndented("          ", text, width),
    ),
    ...(impact === "" ? [] : wrapIndented("Impact    ", impact, width)),
  ];
}

/** Every resource that loses data, is replaced or interrupted, by name: the last thing before a question. */
function affectedLines({ affected, whole }: ReportView, { palette, width }: Page): readonly string[] {
  return affected.flatMap(({ title, tone, addresses }) => {
    const left = addresses.length - maxNamed;
    const words = addresses
      .slice(0, maxNamed)
      .map((address, at) => (at + 1 < addresses.length ? `${address},` : address));
    return [
      palette.bold(palette[colours[tone]](`${title} (${addresses.length})`)),
      ...wrapWords(words, Math.max(20, width - 2)).map((line) => `  ${line}`),
      ...(left <= 0 ? [] : wrapIndented("  ", `and ${left} more: ${whole} has them`, width)),
    ];
  });
}

function closingLines(view: ReportView, { palette, width }: Page): readonly string[] {
  const { incomplete, closing, summary, verdict, seen, tone } = view;
  const partial = incomplete === "" ? [] : [{ tone: "careful" as const, text: `Incomplete: ${incomplete}.` }];
  const last = wrapIndented("", `${verdict} ${seen}`, width);
  return [
    ...[...partial, ...closing].flatMap(({ tone: of, text }) =>
      wrapIndented("", text, width).map(of === "plain" ? palette.plain : palette[colours[of]]),
    ),
    ...(summary === ""
      ? last.map((line) => palette.bold(palette[colours[tone]](line)))
      : [palette.bold(summary)]),
  ];
}

/** Meanings of the signs that begin lines of a plan, in the order of the legend. */
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
  ["=", "kept"],
];

const placeholders: readonly string[] = ["ADDRESS", "ID", "NAME", "KEY", "PREVIOUS"];

/** The meanings of signs, placeholders and sources in these lines. */
export function legendLines(lines: readonly string[], isPlan: boolean, { width }: Page): readonly string[] {
  const plain = lines.map((line) => withoutColour(line));
  const used = new Set(plain.map((line) => /^ {2}(?: {2}(?!→))?(\S) /u.exec(line)?.[1]));
  const signs = meanings.filter(([sign]) => isPlan && used.has(sign));
  const words = placeholders.filter((word) => plain.some((line) => new RegExp(`\\b${word}\\b`).test(line)));
  const stand = words.length === 1 ? "stands for that" : "stand for those";
  const own = used.has("·") && words.length > 0 ? [`${words.join(", ")} ${stand} of each resource`] : [];
  const parts = [...signs.map(([sign, meaning]) => `${sign} ${meaning}`), ...own, ...sourceMeanings(plain)];
  return parts.length === 0 ? [] : wrapIndented("Signs     ", parts.join(", "), width);
}
