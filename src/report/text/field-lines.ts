/** @module Formats fields and outputs as aligned lines. */
import type { Page, Palette } from "../palette.ts";
import { padTo, textWidth, wrapIndented } from "../text-width.ts";
import type { FieldRole, FieldView } from "../view/report-view.ts";
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

/** One field with its values and sources. */
interface Row {
  readonly sign: string;
  readonly tone: keyof Palette;
  readonly path: string;
  readonly before?: string;
  readonly after: string;
  readonly note: string;
}

/** The fields with aligned values and notes; a row that is too wide takes several lines. */
export function fieldLines(fields: readonly FieldView[], indent: number, page: Page): readonly string[] {
  const rows = fields.map(rowOf);
  const path = widest(
    rows.map((row) => row.path),
    36,
  );
  const before = widest(
    rows.map((row) => row.before ?? ""),
    Math.max(12, Math.floor((page.width - indent - path) / 3)),
  );
  const after = widest(
    rows.filter((row) => row.note !== "").map((row) => row.after),
    24,
  );
  return rows.flatMap((row) => rowLines(row, { path, before, after }, indent, page));
}

function rowOf({ path, role, before, after, source, afterSource, notes }: FieldView): Row {
  const [sign, tone] = signs[role];
  return {
    ...{ sign, tone, path },
    ...(before === undefined ? {} : { before: before + sourceNote(source) }),
    after: after + sourceNote(afterSource),
    note: notes.length === 0 ? "" : `# ${notes.join(", ")}`,
  };
}

/** The width of each column. */
interface Columns {
  readonly path: number;
  readonly before: number;
  readonly after: number;
}

function rowLines(row: Row, columns: Columns, indent: number, page: Page): readonly string[] {
  const { palette, width } = page;
  const before = row.before === undefined ? "" : `${padTo(row.before, columns.before)} → `;
  const path = padTo(row.path, columns.path);
  const line = `${" ".repeat(indent)}${palette[row.tone](row.sign)} ${path}  ${palette.dim(before)}${row.after}`;
  const used = textWidth(line);
  if (used > width) return stackedLines(row, indent, page);
  if (row.note === "") return [line];
  const note = noteOf(row, palette);
  const gap = Math.max(0, columns.after - textWidth(row.after)) + 2;
  const rest = width - used - textWidth(row.note);
  if (rest >= 2) return [`${line}${" ".repeat(Math.min(gap, rest))}${note}`];
  return [line, `${" ".repeat(indent + 2)}${note}`];
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

/** The width of the widest text; texts wider than `maxWidth` do not count. */
function widest(texts: readonly string[], maxWidth: number): number {
  return Math.max(0, ...texts.map(textWidth).filter((width) => width <= maxWidth));
}
