/** @module Formats one resource of a drift report as lines of text. */
import type { DriftReport, FieldDrift, Happening, ResourceDrift } from "../model/drift.ts";
import type { Json } from "../model/json.ts";
import { unimportantTitle } from "./drift-groups.ts";
import { escapeText } from "./escape.ts";
import { type FieldRow, fieldLines } from "./field-lines.ts";
import { headline } from "./headline.ts";
import { isSecretPath, type KindNames } from "./kind-words.ts";
import type { Page, Palette } from "./palette.ts";
import { sourceNote } from "./source-words.ts";
import { wrapIndented } from "./text-width.ts";
import { timeText } from "./time-text.ts";
import { valueText } from "./value-text.ts";

const signs: { readonly [what in Happening]: { readonly sign: string; readonly tone: keyof Palette } } = {
  deleted: { sign: "-", tone: "red" },
  failed: { sign: "!", tone: "red" },
  stopped: { sign: "!", tone: "red" },
  started: { sign: "!", tone: "yellow" },
  changed: { sign: "!", tone: "yellow" },
  renamed: { sign: "!", tone: "yellow" },
  unapplied: { sign: "~", tone: "cyan" },
  unimportant: { sign: "=", tone: "dim" },
};

/** The lines of one resource: address and place, what happened and since when, who did it, the fields that matter. */
export function driftLines(resource: ResourceDrift, names: KindNames, page: Page): readonly string[] {
  const { address, id, what, reason, since, where, events } = resource;
  const { palette, width } = page;
  const right =
    since === undefined || resource.class !== "outside"
      ? ""
      : `; last seen right ${escapeText(timeText(since), 40)}`;
  const fields = resource.fields.filter((field) => field.class !== "cosmetic");
  return [
    ...headline({ ...signs[what], address, ...(id === undefined ? {} : { id }), where }, page),
    ...wrapIndented("    ", `${escapeText(reason)}${right}`, width),
    ...events.flatMap(({ time, user, message }) =>
      wrapIndented(
        "    ",
        `${escapeText(timeText(time), 40)}${user === undefined ? "" : ` ${escapeText(user, 100)}`}: ${escapeText(message, 200)}`,
        width,
      ).map(palette.dim),
    ),
    ...fieldLines(
      fields.map((field) => rowOf(field, resource, names)),
      4,
      page,
    ),
  ];
}

/** Fields that differ and do not matter, with the reason of each. */
export function unimportantLines(
  { resources }: DriftReport,
  names: KindNames,
  page: Page,
): readonly string[] {
  const lines = resources.flatMap((resource) => {
    const fields = resource.fields.filter((field) => field.class === "cosmetic");
    if (fields.length === 0 && resource.class !== "cosmetic") return [];
    const { address, reason } = resource;
    const note = fields.length === 0 ? `: ${escapeText(reason)}` : "";
    return [
      ...wrapIndented("  = ", `${escapeText(address, 300)}${note}`, page.width),
      ...fieldLines(
        fields.map((field) => rowOf(field, resource, names)),
        4,
        page,
      ),
    ];
  });
  return lines.length === 0 ? [] : [page.palette.bold(unimportantTitle), "", ...lines];
}

/** Outputs with another value than at the last apply. */
export function outputDriftLines({ outputs }: DriftReport, page: Page): readonly string[] {
  const rows = outputs.map(
    ({ name, sensitive, applied, seen }): FieldRow => ({
      mark: "=",
      tone: "dim",
      path: escapeText(name, 200),
      before: textOf(applied, sensitive),
      after: textOf(seen, sensitive),
      note: "recorded by the next apply",
    }),
  );
  return rows.length === 0 ? [] : [page.palette.bold("Outputs"), "", ...fieldLines(rows, 2, page)];
}

function rowOf(field: FieldDrift, { kind, where }: ResourceDrift, names: KindNames): FieldRow {
  const isSecret = field.secret || isSecretPath(kind, field.path, names);
  const tones = { outside: "yellow", ours: "cyan", cosmetic: "dim" } as const;
  const marks = { outside: "!", ours: "~", cosmetic: "=" } as const;
  const isOurs = field.class === "ours";
  const source = field.source === "recorded" ? "" : sourceNote(field.source);
  return {
    mark: marks[field.class],
    tone: tones[field.class],
    path: escapeText(field.path, 200),
    before: isOurs ? textOf(field.seen ?? field.applied, isSecret) + source : textOf(field.applied, isSecret),
    after: isOurs ? textOf(field.declared, isSecret) : textOf(field.seen, isSecret) + source,
    note: notesOf(field, where?.file, isSecret).join(", "),
  };
}

function notesOf(field: FieldDrift, file: string | undefined, isSecret: boolean): readonly string[] {
  const { reason, applied, declared, where } = field;
  const isThird =
    field.class === "outside" && declared !== undefined && applied !== undefined && !isSecret
      ? valueText(declared, false) !== valueText(applied, false)
      : false;
  return [
    ...(where === undefined ? [] : [where.file === file ? `line ${where.start.line}` : placeText(where)]),
    ...(isThird ? [`declared ${textOf(declared, isSecret)}`] : []),
    ...(reason === "changed outside" || reason === "changed in the manifest" ? [] : [escapeText(reason)]),
  ];
}

function placeText({
  file,
  start,
}: {
  readonly file: string;
  readonly start: { readonly line: number };
}): string {
  return escapeText(`${file}:${start.line}`, 300);
}

function textOf(value: Json | undefined, isSecret: boolean): string {
  return value === undefined ? "(none)" : valueText(value, isSecret);
}
