/** @module Formats the first lines of a block of a report: its sign, and its resource with id and place, or its many resources. */
import { escapeText } from "./escape.ts";
import type { Page, Palette } from "./palette.ts";
import { textWidth, wrapIndented } from "./text-width.ts";
import type { AddressView } from "./view/block-view.ts";
import { commonName } from "./view/common-name.ts";

/** Sign of a block and its colour. */
export interface Sign {
  readonly mark: string;
  readonly tone: keyof Palette;
}

/** Most addresses that a block lists. */
const listed = 6;

/** Largest line width: on a very wide terminal the file position stays near the address. */
const maxWidth = 120;

/**
 * One resource on one line, or the number of several and the first of them. `more` says where the others are named; without it
 * all are named here.
 */
export function headLines(
  addresses: readonly AddressView[],
  sign: Sign,
  page: Page,
  more?: string,
): readonly string[] {
  const [first, ...others] = addresses;
  if (first === undefined) return [];
  if (others.length === 0) return addressLines(sign, first, page);
  const shown = more !== undefined && addresses.length > listed + 1 ? addresses.slice(0, listed) : addresses;
  const left = addresses.length - shown.length;
  return [
    ...addressLines(sign, { address: `${addresses.length} × ${commonName(addresses)}` }, page),
    ...shown.flatMap((entry) => addressLines({ mark: "  ·", tone: "dim" }, entry, page)),
    ...(left === 0
      ? []
      : wrapIndented("    · ", `and ${left} more: ${more}`, page.width).map(page.palette.dim)),
  ];
}

/** Sign, address and id on the left, file and line on the right, or below if there is no room. */
function addressLines(
  { mark, tone }: Sign,
  { address: given, id: shownId, where: place }: AddressView,
  { palette, width }: Page,
): readonly string[] {
  const address = escapeText(given, 300);
  const id = shownId === undefined ? "" : ` (${escapeText(shownId, 100)})`;
  const painted = `  ${palette[tone](mark)} ${palette.bold(address)}${palette.dim(id)}`;
  if (place === undefined) return [painted];
  const where = escapeText(`${place.file}:${place.line}`, 300);
  const gap = Math.min(width, maxWidth) - textWidth(`  ${mark} ${address}${id}`) - textWidth(where);
  if (gap < 2) return [painted, `    ${palette.dim(where)}`];
  return [`${painted}${" ".repeat(gap)}${palette.dim(where)}`];
}
