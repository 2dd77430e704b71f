/** @module Formats the changed fields of a resource as aligned lines. */

import type { Change } from "../model/plan.ts";
import { escapeText } from "./escape.ts";
import type { KindNames } from "./kind-words.ts";
import type { Page, Palette } from "./palette.ts";
import { sourceNote } from "./source-words.ts";
import { padTo, textWidth, wrapIndented } from "./text-width.ts";
import { driftedFields, type FieldRole, type FieldView, fieldsOf } from "./view/field-view.ts";

/** One line of a field. Without `before` the field is new. Texts are escaped and have no colour. */
export interface FieldRow {
  readonly mark: string;
  readonly tone: keyof Palette;
  readonly path: string;
  readonly before?: string;
  readonly after: string;
  /** Comment after the `#`. */
  readonly note: string;
}

/** Rows of the fields that a change sets, those that force a replacement first; of a new resource all of them. */
export function fieldRows(change: Change, names: KindNames): readonly FieldRow[] {
  return fieldsOf(change, names).map(fieldRow);
}

/** Rows of drifted fields that the change does not set. */
export function driftRows(change: Change, names: KindNames): readonly FieldRow[] {
  return driftedFields(change, names).map(fieldRow);
}

const signs: { readonly [role in FieldRole]: Pick<FieldRow, "mark" | "tone"> } = {
  new: { mark: "+", tone: "green" },
  changed: { mark: "~", tone: "yellow" },
  replaces: { mark: "±", tone: "red" },
  drifted: { mark: "!", tone: "yellow" },
};

/** A field of a view as a row; the values of a view are escaped already. */
export function fieldRow({ path, role, before, after, source, secret, notes }: FieldView): FieldRow {
  const origin = secret ? "" : sourceNote(source);
  return {
    ...signs[role],
    path: escapeText(path, 200),
    ...(before === undefined ? {} : { before: before + origin }),
    after,
    note: notes.join(", "),
  };
}

/** Formats rows with aligned values and notes; a row that is too wide takes several lines. */
export function fieldLines(rows: readonly FieldRow[], indent: number, page: Page): readonly string[] {
  const room = page.width - indent;
  const path = widest(
    rows.map((row) => row.path),
    36,
  );
  const before = widest(
    rows.map((row) => row.before ?? ""),
    Math.max(12, Math.floor((room - path) / 3)),
  );
  const noted = rows.filter((row) => row.note !== "");
  const after = widest(
    noted.map((row) => row.after),
    24,
  );
  return rows.flatMap((row) => rowLines(row, { path, before, after }, indent, page));
}

interface Columns {
  readonly path: number;
  readonly before: number;
  readonly after: number;
}

function rowLines(row: FieldRow, columns: Columns, indent: number, page: Page): readonly string[] {
  const { palette, width } = page;
  const path = padTo(row.path, columns.path);
  const before = row.before === undefined ? "" : `${padTo(row.before, columns.before)} → `;
  const used = indent + textWidth(`${row.mark} ${path}  ${before}${row.after}`);
  const painted = `${" ".repeat(indent)}${palette[row.tone](row.mark)} ${path}  ${palette.dim(before)}${row.after}`;
  if (used > width) return stackedLines(row, indent, page);
  if (row.note === "") return [painted];
  const note = noteOf(row, palette);
  const gap = Math.max(0, columns.after - textWidth(row.after)) + 2;
  const rest = width - used - textWidth(`# ${row.note}`);
  if (rest >= 2) return [`${painted}${" ".repeat(Math.min(gap, rest))}${note}`];
  return [painted, `${" ".repeat(indent + 2)}${note}`];
}

/** Before and after on lines of their own, broken between words. */
function stackedLines(row: FieldRow, indent: number, { palette, width }: Page): readonly string[] {
  const space = " ".repeat(indent + 2);
  const note = row.note === "" ? "" : `  ${noteOf(row, palette)}`;
  const before =
    row.before === undefined ? [] : wrapIndented(`${space}  `, row.before, width).map(palette.dim);
  const after = wrapIndented(row.before === undefined ? space : `${space}→ `, row.after, width);
  return [`${" ".repeat(indent)}${palette[row.tone](row.mark)} ${row.path}${note}`, ...before, ...after];
}

function noteOf(row: FieldRow, palette: Palette): string {
  return palette[row.tone === "red" ? "red" : "dim"](`# ${row.note}`);
}

/** The width of the widest text; texts wider than `maxWidth` do not count. */
function widest(texts: readonly string[], maxWidth: number): number {
  return Math.max(0, ...texts.map(textWidth).filter((width) => width <= maxWidth));
}
