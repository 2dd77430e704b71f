/** @module Formats fields and outputs as aligned lines. */
import { defined } from "../model/json.ts";
import { escapeText } from "./escape.ts";
import type { Sign } from "./head-lines.ts";
import type { Page, Palette } from "./palette.ts";
import { padTo, textWidth, wrapIndented } from "./text-width.ts";
import type { FieldRole, FieldView, OutputView } from "./view/field-view.ts";
import { sourceNote } from "./words.ts";

/** One line of a field. Without `before` the field is new. Texts are escaped and have no colour. */
export interface FieldRow extends Sign {
  readonly path: string;
  readonly before?: string;
  readonly after: string;
  /** Comment after the `#`. */
  readonly note: string;
}

const signs: { readonly [role in FieldRole]: Sign } = {
  new: { mark: "+", tone: "green" },
  changed: { mark: "~", tone: "yellow" },
  replaces: { mark: "±", tone: "red" },
  drifted: { mark: "!", tone: "yellow" },
};

/** A field of a view as a row; the values of a view are escaped already. */
export function fieldRow(field: FieldView, sign: Sign = signs[field.role]): FieldRow {
  const { path, before, after, source, afterSource, secret, notes } = field;
  const origin = (of: typeof source): string => (secret ? "" : sourceNote(of));
  return {
    ...sign,
    path: escapeText(path, 200),
    ...(before === undefined ? {} : { before: before + origin(source) }),
    after: after + origin(afterSource),
    note: escapeText(notes.join(", ")),
  };
}

const outputSigns: { readonly [action in OutputView["action"]]: Sign } = {
  create: { mark: "+", tone: "green" },
  update: { mark: "~", tone: "yellow" },
  delete: { mark: "-", tone: "red" },
  missing: { mark: "!", tone: "yellow" },
};

/** A section of outputs; empty if there are none. */
export function outputLines(outputs: readonly OutputView[], page: Page): readonly string[] {
  const rows = outputs.map(({ name, action, before, after, note = "" }) => ({
    ...outputSigns[action],
    path: escapeText(name, 200),
    ...defined({ before }),
    ...{ after, note: escapeText(note, 400) },
  }));
  return rows.length === 0 ? [] : [page.palette.bold("Outputs"), "", ...fieldLines(rows, 2, page)];
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
