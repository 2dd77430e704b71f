/** @module Formats one block of equal changes or equal drift as lines of text. */
import type { Page, Palette } from "../palette.ts";
import { textWidth, wrapIndented } from "../text-width.ts";
import {
  type AddressView,
  type BlockView,
  commonName,
  type RemarkView,
  type Tone,
} from "../view/report-view.ts";
import { fieldLines } from "./field-lines.ts";

/** Most addresses that a block lists. */
const maxListed = 6;

/** Largest line width: on a very wide terminal the file position stays near the address. */
const maxWidth = 120;

/** The colour of each tone. */
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
