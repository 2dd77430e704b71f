/** @module Formats the changed fields of a resource as aligned lines. */

import type { Json } from "../model/json.ts";
import { stableJson } from "../model/json.ts";
import type { Change, FieldChange } from "../model/plan.ts";
import { fieldsOf } from "../model/spec.ts";
import { escapeText } from "./escape.ts";
import type { KindNames } from "./kind-words.ts";
import { isSecretPath } from "./kind-words.ts";
import type { Page, Palette } from "./palette.ts";
import { padTo, textWidth, wrapIndented } from "./text-width.ts";
import { valueText } from "./value-text.ts";

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

/** Rows of the fields that a change sets, those that force a replacement first. */
export function changedRows(change: Change, names: KindNames): readonly FieldRow[] {
  const forcing = change.fields.filter((field) => field.effect === "replace");
  const others = change.fields.filter((field) => field.effect !== "replace");
  return [...forcing, ...others].map((field) => ({
    mark: field.effect === "replace" ? "±" : "~",
    tone: field.effect === "replace" ? "red" : "yellow",
    ...row(field, change, names),
    note: notesOf(field, change).join(", "),
  }));
}

/** Rows of drifted fields that the change does not set. */
export function driftRows(change: Change, names: KindNames): readonly FieldRow[] {
  const shown = new Set(change.fields.map((field) => field.path));
  return change.drift
    .filter((field) => !shown.has(field.path))
    .map((field) => ({
      mark: "!",
      tone: "yellow",
      ...row(field, change, names),
      note: field.wayOut ?? "changed outside, left as it is",
    }));
}

/** Rows of the fields of a new resource. */
export function newRows(change: Change, names: KindNames): readonly FieldRow[] {
  return fieldsOf(change.after ?? {}).map(([path, value]) => ({
    mark: "+",
    tone: "green",
    path: escapeText(path, 200),
    after: valueText(value, isSecretPath(change.kind, path, names)),
    note: "",
  }));
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

function row(
  field: FieldChange,
  change: Change,
  names: KindNames,
): Pick<FieldRow, "path" | "before" | "after"> {
  const secret = field.secret || isSecretPath(change.kind, field.path, names);
  const source = field.source === undefined || field.source === "described" ? "" : ` (${field.source})`;
  const text = (value: Json | undefined, absent: string): string =>
    value === undefined ? absent : valueText(value, secret);
  return {
    path: escapeText(field.path, 200),
    before: secret ? valueText("", true) : text(field.before, "(not known)") + source,
    after: secret ? valueText("", true) : text(field.after, "(no longer managed)"),
  };
}

function notesOf(field: FieldChange, change: Change): readonly string[] {
  const drifted = change.drift.find((drift) => drift.path === field.path);
  const isReverted = same(drifted?.before, field.after);
  const was =
    drifted?.before === undefined || field.secret ? "" : `, was ${valueText(drifted.before, drifted.secret)}`;
  const disruption =
    field.disruption === "none" || field.effect === "replace" ? [] : [field.disruption.replace("-", " ")];
  return [
    ...(field.effect === "replace" ? ["forces replacement"] : disruption),
    ...(field.via === "database" ? ["set by hand, set back in the database"] : []),
    ...(drifted === undefined || field.via === "database" ? [] : [`changed outside${isReverted ? "" : was}`]),
  ];
}

function same(left: Json | undefined, right: Json | undefined): boolean {
  return left !== undefined && right !== undefined && stableJson(left) === stableJson(right);
}

/** The width of the widest text; texts wider than `maxWidth` do not count. */
function widest(texts: readonly string[], maxWidth: number): number {
  return Math.max(0, ...texts.map(textWidth).filter((width) => width <= maxWidth));
}
