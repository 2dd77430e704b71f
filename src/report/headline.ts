/** @module Formats the first line of a resource in a report: sign, address and id, and its place in the manifest. */
import type { SourceRange } from "../model/problem.ts";
import { escapeText } from "./escape.ts";
import type { Page, Palette } from "./palette.ts";
import { textWidth } from "./text-width.ts";

/** A place in the manifest. */
interface Where {
  readonly file: string;
  readonly start: Pick<SourceRange["start"], "line">;
}

/** Content of a headline. */
export interface Headline {
  readonly sign: string;
  readonly tone: keyof Palette;
  readonly address: string;
  readonly id?: string;
  readonly where: Where | undefined;
}

/** Largest line width: on a very wide terminal the file position stays near the address. */
const maxWidth = 120;

/** Sign, address and id on the left, file and line on the right, or below where there is no room. */
export function headline(
  { sign, tone, address: given, id: shownId, where: range }: Headline,
  { palette, width }: Page,
): readonly string[] {
  const address = escapeText(given, 300);
  const id = shownId === undefined ? "" : ` (${escapeText(shownId, 100)})`;
  const left = `  ${sign} ${address}${id}`;
  const painted = `  ${palette[tone](sign)} ${palette.bold(address)}${palette.dim(id)}`;
  if (range === undefined) return [painted];
  const where = escapeText(`${range.file}:${range.start.line}`, 300);
  const gap = Math.min(width, maxWidth) - textWidth(left) - textWidth(where);
  if (gap < 2) return [painted, `    ${palette.dim(where)}`];
  return [`${painted}${" ".repeat(gap)}${palette.dim(where)}`];
}
