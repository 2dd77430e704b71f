/** @module Formats blocks of equal changes or equal drift, and their fields, as lines of text. */
import { type Page, type Palette, padTo, textWidth, wrapIndented } from "../typeset.ts";
import {
  type AddressView,
  type BlockView,
  commonName,
  type FieldRole,
  type FieldView,
  type RemarkView,
  type Tone,
} from "../view/report-view.ts";
import { sourceNote } from "../words.ts";

const signs: { readonly [role in FieldRole]: readonly [sign: string, tone: keyof Palette] } = {
  new: ["+", "green"],
  changed: ["~", "yellow"],
  replaces: ["±", "red"],
  drifted: ["!", "yellow"],
  unapplied: ["~", "cyan"],
  unimportant: ["=", "dim"],
  removed: ["-", "red"],
};

type Row = ReturnType<typeof rowOf>;

/** The fields with aligned values and notes. A row that is too wide takes several lines, and very wide texts do not count for the others. */
export function fieldLines(fields: readonly FieldView[], indent: number, page: Page): readonly string[] {
  const rows = fields.map(rowOf);
  const widest = (maxWidth: number, textOf: (row: Row) => string): number =>
    Math.max(0, ...rows.map((row) => textWidth(textOf(row))).filter((width) => width <= maxWidth));
  const path = widest(36, (row) => row.path);
  const third = Math.floor((page.width - indent - path) / 3);
  const before = widest(Math.max(12, third), (row) => row.before ?? "");
  const after = widest(24, (row) => (row.note === "" ? "" : row.after));
  return rows.flatMap((row) => {
    const { palette, width } = page;
    const change = row.before === undefined ? "" : `${padTo(row.before, before)} → `;
    const name = padTo(row.path, path);
    const line = `${" ".repeat(indent)}${palette[row.tone](row.sign)} ${name}  ${palette.dim(change)}${row.after}`;
    const used = textWidth(line);
    if (used > width) return stackedLines(row, indent, page);
    if (row.note === "") return [line];
    const note = noteOf(row, palette);
    const gap = Math.max(0, after - textWidth(row.after)) + 2;
    const rest = width - used - textWidth(row.note);
    if (rest >= 2) return [`${line}${" ".repeat(Math.min(gap, rest))}${note}`];
    return [line, `${" ".repeat(indent + 2)}${note}`];
  });
}

/** The texts of one field. */
function rowOf({ path, role, before, after, source, afterSource, notes }: FieldView) {
  const [sign, tone] = signs[role];
  return {
    ...{ sign, tone, path },
    before: before === undefined ? undefined : before + sourceNote(source),
    after: after + sourceNote(afterSource),
    note: notes.length === 0 ? "" : `# ${notes.join(", ")}`,
  };
}

/** Before and after on lines of their own, broken between words. */
function stackedLines(row: Row, indent: number, { palette, width }: Page): readonly string[] {
  const space = " ".repeat(indent + 2);
  const note = row.note === "" ? "" : `  ${noteOf(row, palette)}`;
  const before =
    row.before === undefined ? [] : wrapIndented(`${space}  `, row.before, width).map(palette.dim);
  const after = wrapIndented(row.before === undefined ? space : `${space}→ `, row.after, width);
  return [`${" ".repeat(indent)}${palette[row.tone](row.sign)} ${row.path}${note}`, ...before, ...after];
}

function noteOf({ tone, note }: Row, palette: Palette): string {
  return palette[tone === "red" ? "red" : "dim"](note);
}

/** Most addresses that a block lists. */
const maxListed = 6;

/** Largest line width: on a very wide terminal the file position stays near the address. */
const maxWidth = 120;

export const colours: { readonly [tone in Tone]: Exclude<keyof Palette, "bold" | "dim"> } = {
  bad: "red",
  careful: "yellow",
  good: "green",
  quiet: "cyan",
};

const remarkSigns: { readonly [is in RemarkView["is"]]: readonly [sign: string, tone: keyof Palette] } = {
  failed: ["    ! ", "red"],
  pending: ["    … ", "yellow"],
  "waiting-for-person": ["    … ", "yellow"],
  backup: ["    ", "plain"],
  unchecked: ["    ? ", "yellow"],
  blocked: ["    ✗ ", "red"],
  event: ["    ", "dim"],
};

/** The lines of a block; guards stand behind its fields. `more` names the command or place that has all addresses. */
export function blockLines(block: BlockView, page: Page, more: string): readonly string[] {
  const remarks = (of: (remark: RemarkView) => boolean): readonly string[] =>
    block.remarks.filter(of).flatMap((remark) => remarkLines(remark, page));
  return [
    ...headLines(block, page, more),
    ...reasonLines(block, page),
    ...remarks(({ is }) => is !== "blocked"),
    ...fieldLines(block.fields, 4, page),
    ...remarks(({ is }) => is === "blocked"),
  ];
}

function remarkLines({ is, text, remedy }: RemarkView, page: Page): readonly string[] {
  const [sign, tone] = remarkSigns[is];
  const lines = text === "" ? [] : wrapIndented(sign, text, page.width).map(page.palette[tone]);
  return [...lines, ...(remedy === undefined ? [] : remedyLines(remedy, page))];
}

function remedyLines(text: string, { palette, width }: Page): readonly string[] {
  const label = "way out:";
  const [first = "", ...rest] = wrapIndented(`      ${label} `, text, width);
  return [first.replace(label, () => palette.dim(label)), ...rest];
}

/** One resource on one line, or the number of several and the first of them, or all if every report names them. */
function headLines(block: BlockView, page: Page, more: string): readonly string[] {
  const { addresses, sign, tone, named } = block;
  const [first, ...others] = addresses;
  if (first === undefined) return [];
  const paint = page.palette[sign === "=" ? "dim" : colours[tone]];
  const head = `  ${paint(sign)} `;
  if (others.length === 0) return addressLines(head, first, page);
  const shown = !named && addresses.length > maxListed + 1 ? addresses.slice(0, maxListed) : addresses;
  const left = addresses.length - shown.length;
  return [
    ...addressLines(head, { address: `${addresses.length} × ${commonName(addresses)}` }, page),
    ...shown.flatMap((entry) => addressLines(`    ${page.palette.dim("·")} `, entry, page)),
    ...(left === 0
      ? []
      : wrapIndented("    · ", `and ${left} more: ${more}`, page.width).map(page.palette.dim)),
  ];
}

/** Address and id on the left, file and line on the right, or below if there is no room. */
function addressLines(
  head: string,
  { address, id, where }: AddressView,
  { palette, width }: Page,
): readonly string[] {
  const left = `${head}${palette.bold(address)}${palette.dim(id === undefined ? "" : ` (${id})`)}`;
  if (where === undefined) return [left];
  const gap = Math.min(width, maxWidth) - textWidth(left) - textWidth(where);
  if (gap < 2) return [left, `    ${palette.dim(where)}`];
  return [`${left}${" ".repeat(gap)}${palette.dim(where)}`];
}

function reasonLines({ isChange, word, reason, disruption }: BlockView, page: Page): readonly string[] {
  const { palette, width } = page;
  const lines = wrapIndented("    ", isChange ? `${word}: ${reason}` : reason, width);
  if (disruption === "none") return lines;
  const last = lines.at(-1) ?? "";
  const tail = palette[disruption === "data-loss" ? "red" : "yellow"](`· ${disruption.replace("-", " ")}`);
  if (textWidth(last) + textWidth(tail) + 1 > width) return [...lines, `    ${tail}`];
  return [...lines.slice(0, -1), `${last} ${tail}`];
}
